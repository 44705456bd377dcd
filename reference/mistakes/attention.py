"""Classic mistakes in attention over columns: each under what it looks like, by the function it is made in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from reference.attention import attention, softargmax

Mistake = Callable[..., Any]
_HIDDEN = "keys after the query's own position are hidden, as by a causal mask"


def _causal(Q: Any, K: Any, V: Any, beta: float) -> Any:
    allowed = np.arange(K.shape[1])[:, None] <= np.arange(Q.shape[1])
    return V @ softargmax(np.where(allowed, K.T @ Q, -np.inf), beta)


def _heads(
    C: Any,
    W_Q: Any,
    W_K: Any,
    W_V: Any,
    W_O: Any,
    heads: int,
    mask: Any = None,
    *,
    beta: Callable[[int, int], float] = lambda d, heads: 1 / sqrt(d / heads),
    axis: int = 0,
    interleaved: bool = False,
    split: bool = True,
    read_mask: Callable[[Any], Any] = lambda mask: mask,
) -> Any:
    """Multi-head attention with one thing done differently."""
    d, heads = W_Q.shape[0], heads if split else 1
    rows = np.arange(d).reshape(-1, heads).T if interleaved else np.arange(d).reshape(heads, -1)
    allowed = None if mask is None else read_mask(mask)
    outputs = np.empty((d, C.shape[1]))
    for own in rows:
        scores = (W_K[own] @ C).T @ (W_Q[own] @ C)
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        outputs[own] = W_V[own] @ C @ softargmax(scores, beta(d, heads), axis=axis)
    if allowed is not None:
        outputs[:, ~np.asarray(allowed).any(axis=0)] = np.nan
    return W_O @ outputs


def _causal_heads(C: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any, heads: int, mask: Any = None) -> Any:
    tokens = C.shape[1]
    return _heads(C, W_Q, W_K, W_V, W_O, heads, np.triu(np.ones((tokens, tokens), bool)))


MISTAKES: dict[str, dict[str, Mistake]] = {
    "attention": {
        "the softargmax runs over the queries instead of the keys": (
            lambda Q, K, V, beta: V @ softargmax(K.T @ Q, beta, axis=1)
        ),
        "β is left out": lambda Q, K, V, beta: attention(Q, K, V, 1.0),
        "β is fixed at 1/√d": lambda Q, K, V, beta: attention(Q, K, V, 1 / sqrt(len(Q))),
        "the scores are divided by β": lambda Q, K, V, beta: attention(Q, K, V, 1 / beta),
        "the weights are not normalised": lambda Q, K, V, beta: V @ np.exp(beta * (K.T @ Q)),
        "β multiplies the weights instead of the scores": lambda Q, K, V, beta: beta * attention(Q, K, V, 1.0),
        _HIDDEN: _causal,
    },
    "multi_head_attention": {
        "the scores are scaled by 1/√d instead of 1/√(d/heads)": partial(_heads, beta=lambda d, heads: 1 / sqrt(d)),
        "the scores are not scaled by 1/√(d/heads)": partial(_heads, beta=lambda d, heads: 1.0),
        "the softargmax runs over the queries instead of the keys": partial(_heads, axis=1),
        "the heads take turns at the rows instead of a block of rows each": partial(_heads, interleaved=True),
        "there is one head instead of several": partial(_heads, split=False),
        "the mask is ignored": partial(_heads, read_mask=lambda mask: None),
        "the mask is read transposed, with the query in the row": partial(_heads, read_mask=np.transpose),
        _HIDDEN: _causal_heads,
        "the mask is read the wrong way round, True as 'may not'": partial(_heads, read_mask=np.logical_not),
    },
}
