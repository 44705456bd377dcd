import numpy as np

from attention import softargmax


def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    d, n = W_Q.shape[0], C.shape[1]
    split = lambda W: (W @ C).reshape(heads, d // heads, n)
    Q, K, V = split(W_Q), split(W_K), split(W_V)
    H = []
    for q, k, v in zip(Q, K, V):
        scores = k.T @ q
        if mask is not None:
            scores = np.where(mask, scores, -1e30)
        H.append(v @ softargmax(scores, 1 / np.sqrt(d / heads)))
    return W_O @ np.concatenate(H, axis=0)
