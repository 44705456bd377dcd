"""Never comes to an end: the loop variable is not advanced."""
import numpy as np


def attention(Q, K, V, beta):
    H = np.zeros((V.shape[0], Q.shape[1]))
    j = 0
    while j < Q.shape[1]:
        a = np.exp(beta * K.T @ Q[:, j])
        H[:, j] = V @ (a / a.sum())
    return H
