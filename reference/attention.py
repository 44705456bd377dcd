"""Attention in numpy float64, in the column convention of `dl-hw3` and the notation of `nlp-a5`.

Equation    H = V · softargmax_β(KᵀQ),  softargmax_β(s)ᵢ = exp(β sᵢ) / Σⱼ exp(β sⱼ)
Convention  every column is a token: Q is d×n (n queries), K is d×m (m keys), V is t×m (m values).
            The softargmax runs over the keys, so each *column* of A = softargmax_β(KᵀQ) sums to one.
            A mask is laid out like A: True where query j (column) may attend to key i (row).
Readings    * Papers that keep tokens in rows write softmax(QKᵀ/√d)V: the same numbers, transposed. That is
              `row_attention`, whose masks are transposed too: query in row, key in column.
            * A query that may attend to nothing gets weights 0 and so the output 0. The softargmax itself is
              undefined there; torch's fused attention gives zeros as well, a hand-written one often NaN.
            * `nlp-a5` scores one query with no scale: αᵢ = exp(kᵢᵀq)/Σⱼ exp(kⱼᵀq), c = Σ αᵢvᵢ, keys as rows.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference import equations
from reference.shapes import (
    Array,
    boolean_mask,
    finite_array,
    one_query,
    projection,
    queries_keys_values,
    require_joined_heads,
    scores_below_infinity,
)


def softargmax(scores: ArrayLike, beta: float = 1.0, axis: int = 0) -> Array:
    """exp(β s) normalised along `axis`; a score of −∞ gets weight 0, a slice of nothing else only zeros."""
    s = scores_below_infinity(scores, beta)
    hidden = np.isneginf(s)
    scaled = np.where(hidden, -np.inf, beta * np.where(hidden, 0.0, s))
    with np.errstate(invalid="ignore"):  # 0/0 in a slice of nothing else
        weights = equations.softmax(scaled, axis)
    return np.where(hidden, 0.0, weights)


def softmax(scores: ArrayLike) -> Array:
    """The row convention's name for it: β = 1, along the last axis."""
    return softargmax(scores, axis=-1)


def single_query_attention(q: ArrayLike, keys: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    """(α, c) with αᵢ = exp(kᵢᵀq)/Σⱼ exp(kⱼᵀq) and c = Σ αᵢvᵢ; keys and values have one row per token."""
    q, keys, values = one_query(q, keys, values)  # (d,), (n, d), (n, d)
    alpha = softargmax(keys @ q)  # (n,)
    c: Array = alpha @ values  # (d,)
    return alpha, c


def attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, beta: float, mask: ArrayLike | None = None) -> Array:
    """H = V · softargmax_β(KᵀQ)."""
    Q, K, V = queries_keys_values(Q, K, V)  # (d, n), (d, m), (t, m)
    scores = K.T @ Q  # (m, n)
    A = softargmax(masked(scores, mask), beta)  # (m, n), columns sum to one
    H: Array = V @ A  # (t, n)
    return H


def masked(scores: Array, mask: ArrayLike | None) -> Array:
    """−∞ wherever the mask is False; a mask is boolean and has the shape of the scores."""
    return scores if mask is None else np.where(boolean_mask(mask, scores), scores, -np.inf)  # (m, n)


def row_attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, mask: ArrayLike | None = None) -> Array:
    """softmax(QKᵀ/√d)V for tokens in rows: Q is n×d, K is m×d, V is m×t, the mask n×m, the result n×t."""
    Q, K, V = finite_array("Q", Q, 2), finite_array("K", K, 2), finite_array("V", V, 2)
    by_column = None if mask is None else np.asarray(mask).T  # (m, n)
    return attention(Q.T, K.T, V.T, 1 / sqrt(Q.shape[1]), by_column).T  # (n, t)


def causal_mask(tokens: int) -> NDArray[np.bool_]:
    """Laid out like A: query j (column) may attend to the keys i ≤ j (rows)."""
    return np.triu(np.ones((tokens, tokens), dtype=np.bool_))  # (n, n)


def self_attention(
    C: ArrayLike, W_Q: ArrayLike, W_K: ArrayLike, W_V: ArrayLike, mask: ArrayLike | None = None
) -> Array:
    """One head: Q = W_Q C, K = W_K C, V = W_V C from one C (e×n), β = 1/√d; the result is t×n."""
    C = finite_array("C", C, 2)
    Q, K, V = (projected(name, W, C) for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V)))
    return attention(Q, K, V, 1 / sqrt(len(Q)), mask)  # (t, n)


def projected(name: str, W: ArrayLike, C: Array) -> Array:
    """W C, where they fit."""
    result: Array = projection(name, W, C) @ C  # (d, n)
    return result


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
    return cross_attention(C, C, W_Q, W_K, W_V, W_O, heads, mask)


def cross_attention(
    C: ArrayLike,
    D: ArrayLike,
    W_Q: ArrayLike,
    W_K: ArrayLike,
    W_V: ArrayLike,
    W_O: ArrayLike,
    heads: int,
    mask: ArrayLike | None = None,
) -> Array:
    """Multi-head attention with queries from C (e×n), keys and values from D (f×m); the mask is m×n."""
    C, D, W_O = finite_array("C", C, 2), finite_array("D", D, 2), finite_array("W_O", W_O, 2)
    Q, K, V = projected("W_Q", W_Q, C), projected("W_K", W_K, D), projected("W_V", W_V, D)  # (d, n), 2 × (d, m)
    require_joined_heads(heads, Q, K, V, W_O)
    beta = 1 / sqrt(len(Q) / heads)
    parts = (np.split(matrix, heads) for matrix in (Q, K, V))  # per head (d/heads, n) or (d/heads, m)
    outputs = [attention(q, k, v, beta, mask) for q, k, v in zip(*parts, strict=True)]  # heads × (d/heads, n)
    joined = np.concatenate(outputs)  # (d, n)
    H: Array = W_O @ joined  # (e, n)
    return H
