import numpy as np


def ridge(X, y, lam):
    return np.zeros(X.shape[1])


def augmented(X, y, lam):
    return X
