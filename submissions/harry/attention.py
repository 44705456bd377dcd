import numpy as np


def attention(Q, K, V, beta):
    S = beta * (Q.T @ K)
    S = S - S.max(axis=1)[:, None]
    A = np.exp(S)
    A = A / A.sum(axis=1)[:, None]
    return (A @ V.T).T
