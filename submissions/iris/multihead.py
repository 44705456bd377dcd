"""The heads take turns at the rows."""
import numpy as np


def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    Q, K, V = W_Q @ C, W_K @ C, W_V @ C
    H = np.empty_like(V)
    for i in range(heads):
        S = K[i::heads].T @ Q[i::heads] * (len(Q) / heads) ** -0.5
        if mask is not None:
            S = np.where(mask, S, -np.inf)
        A = np.exp(S - S.max(axis=0))
        H[i::heads] = V[i::heads] @ (A / A.sum(axis=0))
    return W_O @ H
