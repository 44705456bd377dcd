import numpy as np


def ridge(X, y, lam):
    n, d = X.shape
    return np.linalg.inv(X.T @ X / n + lam * np.eye(d)) @ (X.T @ y / n)


def augmented(X, y, lam):
    d = X.shape[1]
    return np.vstack([X, np.sqrt(lam) * np.eye(d)]), y
