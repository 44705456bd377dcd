"""Concatenates along the wrong axis, so the last product does not fit."""
import numpy as np


def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    heads_out = []
    for q, k, v in zip(np.split(W_Q, heads), np.split(W_K, heads), np.split(W_V, heads)):
        s = (k @ C).T @ (q @ C) / np.sqrt(len(q))
        a = np.exp(s) / np.exp(s).sum(axis=0)
        heads_out.append(v @ C @ a)
    return W_O @ np.concatenate(heads_out, axis=1)
