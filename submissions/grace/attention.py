"""β is computed here, whatever the caller says."""
import numpy as np


def attention(Q, K, V, beta):
    beta = 1 / np.sqrt(Q.shape[0])
    S = beta * K.T @ Q
    A = np.exp(S - S.max(axis=0))
    return V @ (A / A.sum(axis=0))
