"""The right values, but the caller's Q is scaled in place, and large scores overflow."""
import numpy as np


def attention(Q, K, V, beta):
    Q *= beta
    weights = np.exp(K.T @ Q)
    return V @ (weights / np.sum(weights, axis=0))
