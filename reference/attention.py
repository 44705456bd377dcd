"""Attention in the column convention of `dl-hw3`, in numpy float64.

Equation    H = V · softargmax_β(KᵀQ),  softargmax_β(s)ᵢ = exp(β sᵢ) / Σⱼ exp(β sⱼ)
Convention  every column is a token: Q is d×n (n queries), K is d×m (m keys), V is t×m (m values).
            The softargmax runs over the keys, so each *column* of A = softargmax_β(KᵀQ) sums to one.
Readings    papers that keep tokens in rows write softmax(QKᵀ/√d)V: the same numbers, transposed.
            A mask is laid out like A: True where query j (column) may attend to key i (row).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def softargmax(scores: ArrayLike, beta: float = 1.0, axis: int = 0) -> Array:
    """exp(β s) normalised along `axis`; the largest score is taken off first, so no exp can overflow."""
    scaled = beta * np.asarray(scores, dtype=np.float64)
    shifted = scaled - scaled.max(axis=axis, keepdims=True)
    weights = np.exp(shifted)
    result: Array = weights / weights.sum(axis=axis, keepdims=True)
    return result


def attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, beta: float) -> Array:
    """H = V · softargmax_β(KᵀQ)."""
    Q, K, V = (np.asarray(matrix, dtype=np.float64) for matrix in (Q, K, V))
    scores = K.T @ Q  # (m, n)
    A = softargmax(scores, beta)  # (m, n), columns sum to one
    H: Array = V @ A  # (t, n)
    return H


def multi_head_attention(
    C: ArrayLike,
    W_Q: ArrayLike,
    W_K: ArrayLike,
    W_V: ArrayLike,
    W_O: ArrayLike,
    heads: int,
    mask: ArrayLike | None = None,
) -> Array:
    """Self-attention of C (e×n) with `heads` heads, each at β = 1/√(d/heads), joined by W_O (e×d)."""
    C, W_Q, W_K, W_V, W_O = (np.asarray(matrix, dtype=np.float64) for matrix in (C, W_Q, W_K, W_V, W_O))
    d = W_Q.shape[0]
    if d % heads:
        raise ValueError(f"{heads} heads do not divide the {d} rows of W_Q ({d}×{W_Q.shape[1]}) evenly")
    beta = 1 / sqrt(d / heads)
    outputs = []
    for rows in np.split(np.arange(d), heads):
        Q, K, V = W_Q[rows] @ C, W_K[rows] @ C, W_V[rows] @ C  # each (d/heads, n)
        scores = K.T @ Q  # (n, n), key i in row i, query j in column j
        if mask is not None:
            scores = np.where(np.asarray(mask, dtype=bool), scores, -np.inf)
        outputs.append(V @ softargmax(scores, beta))  # (d/heads, n)
    result: Array = W_O @ np.concatenate(outputs)  # (e, n)
    return result
