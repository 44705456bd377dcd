"""The scores are scaled by the whole width instead of a head's."""
import numpy as np


def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    Q, K, V = W_Q @ C, W_K @ C, W_V @ C
    out = []
    for q, k, v in zip(np.split(Q, heads), np.split(K, heads), np.split(V, heads)):
        s = k.T @ q / np.sqrt(Q.shape[0])
        if mask is not None:
            s = np.where(mask, s, -1e9)
        s = np.exp(s - s.max(axis=0))
        out.append(v @ (s / s.sum(axis=0)))
    return W_O @ np.concatenate(out)
