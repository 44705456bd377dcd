"""The weights are not normalised."""
import numpy as np


def attention(Q, K, V, beta):
    return V @ np.exp(beta * K.T @ Q)
