"""The scores are not scaled."""
import numpy as np


def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    d = W_Q.shape[0] // heads
    H = np.zeros((W_V.shape[0], C.shape[1]))
    for i in range(heads):
        part = slice(i * d, i * d + d)
        S = (W_K[part] @ C).T @ (W_Q[part] @ C)
        if mask is not None:
            S[~mask] = -np.inf
        A = np.exp(S - S.max(axis=0))
        H[part] = W_V[part] @ C @ (A / A.sum(axis=0))
    return W_O @ H
