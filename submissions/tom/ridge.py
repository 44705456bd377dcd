import numpy as np


def ridge(X, y, lam):
    return np.linalg.lstsq(X, y, rcond=None)[0]


def augmented(X, y, lam):
    d = X.shape[1]
    return np.vstack([X, lam * np.eye(d)]), np.concatenate([y, np.zeros(d)])
