import numpy as np


def ridge(X, y, lam):
    n = len(y)
    dual = np.linalg.solve(X @ X.T + lam * np.identity(n), y)
    w = X.T @ dual
    y -= X @ w  # what is left over
    return w


def augmented(X, y, lam):
    more = np.diag(np.full(X.shape[1], lam**0.5))
    return [np.r_[X, more], np.r_[y, np.zeros(len(more))]]
