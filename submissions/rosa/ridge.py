import numpy as np


def ridge(X, y, lam):
    d = X.shape[1]
    return np.linalg.solve(X.T @ X + lam * np.eye(d), X.T @ y)


def augmented(X, y, lam):
    d = X.shape[1]
    rows = np.sqrt(lam) * np.eye(d)
    return np.vstack([X, rows]), np.concatenate([y, np.zeros(d)])
