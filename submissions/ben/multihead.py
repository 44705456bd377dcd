"""Right but for the mask, which is read with the query in the row, and written into."""
import numpy as np


def softmax(x):
    x = x - x.max(axis=0)
    return np.exp(x) / np.exp(x).sum(axis=0)


def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    size = len(W_Q) // heads
    C /= np.sqrt(size) ** 0.5
    out = []
    for h in range(heads):
        rows = slice(h * size, (h + 1) * size)
        scores = (W_K[rows] @ C).T @ (W_Q[rows] @ C)
        if mask is not None:
            scores[~mask.T] = -1e9
        out.append(W_V[rows] @ C @ softmax(scores) * np.sqrt(size) ** 0.5)
    return W_O @ np.vstack(out)
