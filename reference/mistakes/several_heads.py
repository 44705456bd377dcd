"""Classic mistakes in multi-head attention over columns: each cause with the ways in which students make it.

A way is a set of options of `attend_in_heads`; without any it is right. Ways that share no option can be made together.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from reference.attention import causal_mask, softargmax
from reference.mistakes.single_head import CAUSAL, WEIGHTS, Ways

Rows = Callable[[Any, int], Any]  # d×n and the number of heads -> heads × d/heads × n, or back


def blocks(X: Any, heads: int) -> Any:
    return X.reshape(heads, -1, X.shape[1])


def joined(X: Any, heads: int) -> Any:
    return X.reshape(-1, X.shape[2])


def _turns(X: Any, heads: int) -> Any:
    """Row 0 to head 0, row 1 to head 1 and so on, as reshape(d/heads, heads, n) deals them out."""
    return X.reshape(-1, heads, X.shape[1]).swapaxes(0, 1)


def _turns_back(X: Any, heads: int) -> Any:
    return X.swapaxes(0, 1).reshape(-1, X.shape[2])


def _tokens_cut(X: Any, heads: int) -> Any:
    """The n×d form reshaped to heads × n × d/heads without a transpose."""
    return X.T.reshape(heads, X.shape[1], -1).swapaxes(1, 2)


def _tokens_cut_back(X: Any, heads: int) -> Any:
    return X.swapaxes(1, 2).reshape(X.shape[2], -1).T


def _flat(X: Any, heads: int) -> Any:
    """The d×n form reshaped to n × heads × d/heads as if it were n×d."""
    return X.reshape(X.shape[1], heads, -1).transpose(1, 2, 0)


def _flat_by_head(X: Any, heads: int) -> Any:
    """The d×n form reshaped to heads × n × d/heads."""
    return X.reshape(heads, X.shape[1], -1).swapaxes(1, 2)


def _flat_back(X: Any, heads: int) -> Any:
    return X.transpose(2, 0, 1).reshape(-1, X.shape[2])


def _flat_by_head_back(X: Any, heads: int) -> Any:
    return X.swapaxes(1, 2).reshape(-1, X.shape[2])


def _averaged(X: Any, heads: int) -> Any:
    return np.tile(X.mean(axis=0), (heads, 1))


def _added(X: Any, heads: int) -> Any:
    return np.tile(X.sum(axis=0), (heads, 1))


Masking = Callable[[Any, Any, float, Callable[[Any, float], Any], int], Any]


def hide(scores: Any, mask: Any, beta: float, weigh: Callable[[Any, float], Any], head: int) -> Any:
    hidden = np.where(mask, scores, -np.inf)
    return np.where(np.isneginf(hidden).all(axis=0), np.nan, weigh(hidden, beta))


def _as(read: Callable[[Any], Any]) -> Masking:
    return lambda scores, mask, beta, weigh, head: hide(scores, read(mask), beta, weigh, head)


def _in_heads(which: Callable[[int], bool]) -> Masking:
    return lambda scores, mask, beta, weigh, head: (
        hide(scores, mask, beta, weigh, head) if which(head) else weigh(scores, beta)
    )


def filled(filling: float) -> Masking:
    """Masked scores are set to a number, which stands among the scaled scores."""
    return lambda scores, mask, beta, weigh, head: weigh(np.where(mask, beta * scores, filling), 1.0)


def attend_in_heads(
    C: Any,
    W_Q: Any,
    W_K: Any,
    W_V: Any,
    W_O: Any,
    heads: int,
    mask: Any = None,
    *,
    project: Callable[..., tuple[Any, Any, Any]] = lambda C, W_Q, W_K, W_V: (W_Q @ C, W_K @ C, W_V @ C),
    scale: Callable[[int, int, int, int], float] = lambda d, heads, n, e: 1 / sqrt(d / heads),
    weigh: Callable[[Any, float], Any] = softargmax,
    masking: Masking = hide,
    default_mask: Callable[[int], Any] | None = None,
    split: Rows = blocks,
    join: Rows = joined,
    one_head: bool = False,
    output: Callable[[Any, Any, int], Any] = lambda W_O, H, heads: W_O @ H,
    result: Callable[[Any, Any], Any] = lambda H, C: H,
) -> Any:
    """Multi-head attention with something done differently. A query that is left without any key gives NaN."""
    C, W_Q, W_K, W_V, W_O = (np.asarray(array, np.float64) for array in (C, W_Q, W_K, W_V, W_O))
    (e, n), d = C.shape, W_Q.shape[0]
    beta = scale(d, heads, n, e)
    heads = 1 if one_head else heads
    Q, K, V = (split(X, heads) for X in project(C, W_Q, W_K, W_V))
    if mask is None and default_mask is not None:
        mask = default_mask(n)
    outputs = []
    for head, (q, k, v) in enumerate(zip(Q, K, V, strict=True)):
        scores = k.T @ q
        outputs.append(v @ (weigh(scores, beta) if mask is None else masking(scores, mask, beta, weigh, head)))
    return result(output(W_O, join(np.stack(outputs), heads), heads), C)


_MIXED = "the heads are cut by a reshape without a transpose, which mixes tokens"
_MIXED_BACK = "the heads are joined by a reshape without a transpose, which mixes tokens"

SEVERAL_HEADS: Ways = {
    "the scores are scaled by 1/√d instead of 1/√(d/heads)": [{"scale": lambda d, heads, n, e: 1 / sqrt(d)}],
    "the scores are not scaled by 1/√(d/heads)": [{"scale": lambda d, heads, n, e: 1.0}],
    "the scores are scaled by 1/√(d/heads) and by 1/√d": [
        {"scale": lambda d, heads, n, e: 1 / sqrt(d / heads) / sqrt(d)}
    ],
    "the scores are divided by d/heads, without the root": [{"scale": lambda d, heads, n, e: heads / d}],
    "the scores are divided by d, without the root": [{"scale": lambda d, heads, n, e: 1 / d}],
    "the scores are divided by √n, n the number of tokens": [{"scale": lambda d, heads, n, e: 1 / sqrt(n)}],
    "the scores are divided by √heads, the number of heads": [{"scale": lambda d, heads, n, e: 1 / sqrt(heads)}],
    "the scores are divided by √e, the width of C": [{"scale": lambda d, heads, n, e: 1 / sqrt(e)}],
    "the scores are divided by √(e/heads); Q and K have d rows, not e": [
        {"scale": lambda d, heads, n, e: 1 / sqrt(e / heads)},
        {"scale": lambda d, heads, n, e: 1 / sqrt(max(e // heads, 1))},
    ],
    "the scores are multiplied by √(d/heads) instead of divided": [{"scale": lambda d, heads, n, e: sqrt(d / heads)}],
    **WEIGHTS,
    "queries and keys are swapped: the scores are QᵀK": [
        {"project": lambda C, W_Q, W_K, W_V: (W_K @ C, W_Q @ C, W_V @ C)}
    ],
    "the keys are made with W_Q instead of W_K": [{"project": lambda C, W_Q, W_K, W_V: (W_Q @ C, W_Q @ C, W_V @ C)}],
    "the queries are made with W_K instead of W_Q": [{"project": lambda C, W_Q, W_K, W_V: (W_K @ C, W_K @ C, W_V @ C)}],
    "the values are made with W_K instead of W_V": [{"project": lambda C, W_Q, W_K, W_V: (W_Q @ C, W_K @ C, W_K @ C)}],
    "the values are made with W_Q instead of W_V": [{"project": lambda C, W_Q, W_K, W_V: (W_Q @ C, W_K @ C, W_Q @ C)}],
    "the heads take turns at the rows instead of a block of rows each": [
        {"split": _turns, "join": _turns_back},
        {"split": _turns},
        {"join": _turns_back},
    ],
    "there is one head instead of several": [
        {"one_head": True, "scale": lambda d, heads, n, e: 1 / sqrt(d)},
        {"one_head": True},
    ],
    _MIXED: [
        {"split": split, "join": join}
        for split in (_tokens_cut, _flat, _flat_by_head)
        for join in (joined, _tokens_cut_back, _flat_back, _flat_by_head_back)
    ],
    _MIXED_BACK: [{"join": join} for join in (_tokens_cut_back, _flat_back, _flat_by_head_back)],
    "the heads are averaged instead of joined": [{"join": _averaged}],
    "the heads are added instead of joined": [{"join": _added}],
    "the heads are joined in the reverse order": [{"join": lambda X, heads: joined(X[::-1], heads)}],
    "only one head is used": [
        {"join": lambda X, heads: np.tile(X[0], (heads, 1))},
        {"join": lambda X, heads: np.tile(X[-1], (heads, 1))},
        {"join": lambda X, heads: joined(np.where(np.arange(heads)[:, None, None] == 0, X, 0), heads)},
        {"join": lambda X, heads: joined(np.where(np.arange(heads)[:, None, None] == heads - 1, X, 0), heads)},
    ],
    "W_O is left out": [{"output": lambda W_O, H, heads: H}],
    "every head is multiplied by the same columns of W_O instead of its own": [
        {"output": lambda W_O, H, heads: W_O[:, : len(H) // heads] @ blocks(H, heads).sum(axis=0)},
        {"output": lambda W_O, H, heads: W_O[:, -len(H) // heads :] @ blocks(H, heads).sum(axis=0)},
    ],
    "the result is divided by the number of heads": [{"output": lambda W_O, H, heads: W_O @ H / heads}],
    "C is added to the output, as a residual connection does": [{"result": lambda H, C: H + C}],
    CAUSAL: [
        {"default_mask": causal_mask},
        {"default_mask": causal_mask, "masking": _as(lambda mask: mask & causal_mask(len(mask)))},
        {"default_mask": causal_mask, "masking": _as(lambda mask: causal_mask(len(mask)))},
    ],
    "keys before the query's own position are hidden": [
        {"default_mask": lambda n: causal_mask(n).T},
        {"default_mask": lambda n: causal_mask(n).T, "masking": _as(lambda mask: causal_mask(len(mask)).T)},
    ],
}

MASKS: Ways = {
    "the mask is ignored": [{"masking": _in_heads(lambda head: False)}],
    "the mask is read transposed, with the query in the row": [{"masking": _as(np.transpose)}],
    CAUSAL: [{"masking": _as(lambda mask: causal_mask(len(mask)))}],
    "the mask is read the wrong way round, True as 'may not'": [{"masking": _as(np.logical_not)}],
    "the mask is read transposed and the wrong way round": [{"masking": _as(lambda mask: ~mask.T)}],
    "the mask is applied after the softargmax, so that the weights left do not sum to one": [
        {"masking": lambda scores, mask, beta, weigh, head: weigh(scores, beta) * mask}
    ],
    "masked scores are set to 0 instead of −∞, and exp(0) is 1": [{"masking": filled(0.0)}],
    "masked scores are set to a number that is not low enough": [
        {"masking": filled(filling)} for filling in (-1.0, -5.0, -10.0)
    ],
    "the mask is added to the scores as 0 and 1": [
        {"masking": lambda scores, mask, beta, weigh, head: weigh(beta * scores + mask, 1.0)},
        {"masking": lambda scores, mask, beta, weigh, head: weigh(beta * scores - mask, 1.0)},
        {"masking": lambda scores, mask, beta, weigh, head: weigh(scores + mask, beta)},
    ],
    "the mask is applied in the first head only": [{"masking": _in_heads(lambda head: head == 0)}],
    "the mask is applied in all heads but the first": [{"masking": _in_heads(lambda head: head > 0)}],
    "the mask hides whole tokens instead of single pairs": [
        {"masking": _as(lambda mask: np.broadcast_to(mask.all(axis=1)[:, None], mask.shape))},
        {"masking": _as(lambda mask: np.broadcast_to(mask[0][:, None], mask.shape))},
        {"masking": _as(lambda mask: np.broadcast_to(mask[:, :1], mask.shape))},
    ],
}

SEVERAL_HEADS_ON_SQUARES: Ways = {
    "W_O is multiplied as W_Oᵀ": [{"output": lambda W_O, H, heads: W_O.T @ H}],
    "W_O is multiplied from the right": [
        {"output": lambda W_O, H, heads: H @ W_O},
        {"output": lambda W_O, H, heads: H @ W_O.T},
    ],
    "the values are not projected by W_V": [{"project": lambda C, W_Q, W_K, W_V: (W_Q @ C, W_K @ C, C)}],
    "C is not projected by W_Q, W_K and W_V": [{"project": lambda C, W_Q, W_K, W_V: (C, C, C)}],
    "queries, keys and values are made with the transposed matrices": [
        {"project": lambda C, W_Q, W_K, W_V: (W_Q.T @ C, W_K.T @ C, W_V.T @ C)},
        {
            "project": lambda C, W_Q, W_K, W_V: (W_Q.T @ C, W_K.T @ C, W_V.T @ C),
            "output": lambda W_O, H, heads: W_O.T @ H,
        },
    ],
    "C is multiplied from the left (C·W); here every column of C is a token (W·C)": [
        {
            "project": lambda C, W_Q, W_K, W_V, turn=turn: tuple((C @ turn(W)).T for W in (W_Q, W_K, W_V)),
            "output": lambda W_O, H, heads, turn=turn: H.T @ turn(W_O),
            "result": result,
        }
        for turn in (np.asarray, np.transpose)
        for result in (lambda H, C: H, lambda H, C: H.T)
    ],
}
