"""Classic slips: softmax over the wrong axis, no shift before exp, and Q scaled in place."""
import numpy as np


def attention(Q, K, V, beta):
    Q *= beta
    e = np.exp(K.T @ Q)
    A = e / e.sum(axis=1, keepdims=True)
    return V @ A
