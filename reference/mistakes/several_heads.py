"""Classic mistakes in multi-head attention over columns: each cause with the ways in which students make it.

A way is a set of options of `attend_in_heads`; without any it is right. Ways that share no option can be made together.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from reference.attention import causal_mask, softargmax
from reference.mistakes.diagnosis import Diagnosis
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


_MIXED = Diagnosis("the heads are cut by a reshape without a transpose, which mixes tokens", "heads_split_by_view")
_MIXED_BACK = Diagnosis(
    "the heads are joined by a reshape without a transpose, which mixes tokens", "heads_joined_by_view"
)

SEVERAL_HEADS: Ways = {
    Diagnosis("the scores are scaled by 1/√d instead of 1/√(d/heads)", "scaled_by_whole_width"): [
        {"scale": lambda d, heads, n, e: 1 / sqrt(d)}
    ],
    Diagnosis("the scores are not scaled by 1/√(d/heads)", "scores_not_scaled"): [
        {"scale": lambda d, heads, n, e: 1.0}
    ],
    Diagnosis("the scores are scaled by 1/√(d/heads) and by 1/√d", "scaled_too_much"): [
        {"scale": lambda d, heads, n, e: 1 / sqrt(d / heads) / sqrt(d)}
    ],
    Diagnosis("the scores are divided by d/heads, without the root", "scaled_too_much"): [
        {"scale": lambda d, heads, n, e: heads / d}
    ],
    Diagnosis("the scores are divided by d, without the root", "scaled_too_much"): [
        {"scale": lambda d, heads, n, e: 1 / d}
    ],
    Diagnosis("the scores are divided by √n, n the number of tokens", "scaled_by_token_count"): [
        {"scale": lambda d, heads, n, e: 1 / sqrt(n)}
    ],
    Diagnosis("the scores are divided by √heads, the number of heads", "scaled_by_heads"): [
        {"scale": lambda d, heads, n, e: 1 / sqrt(heads)}
    ],
    Diagnosis("the scores are divided by √e, the width of C", "scaled_by_input_width"): [
        {"scale": lambda d, heads, n, e: 1 / sqrt(e)}
    ],
    Diagnosis("the scores are divided by √(e/heads); Q and K have d rows, not e", "scaled_by_input_width"): [
        {"scale": lambda d, heads, n, e: 1 / sqrt(e / heads)},
        {"scale": lambda d, heads, n, e: 1 / sqrt(max(e // heads, 1))},
    ],
    Diagnosis("the scores are multiplied by √(d/heads) instead of divided", "multiplied_by_scale"): [
        {"scale": lambda d, heads, n, e: sqrt(d / heads)}
    ],
    **WEIGHTS,
    Diagnosis("queries and keys are swapped: the scores are QᵀK", "queries_keys_swapped"): [
        {"project": lambda C, W_Q, W_K, W_V: (W_K @ C, W_Q @ C, W_V @ C)}
    ],
    Diagnosis("the keys are made with W_Q instead of W_K", "wrong_key_matrix"): [
        {"project": lambda C, W_Q, W_K, W_V: (W_Q @ C, W_Q @ C, W_V @ C)}
    ],
    Diagnosis("the queries are made with W_K instead of W_Q", "wrong_query_matrix"): [
        {"project": lambda C, W_Q, W_K, W_V: (W_K @ C, W_K @ C, W_V @ C)}
    ],
    Diagnosis("the values are made with W_K instead of W_V", "wrong_value_matrix"): [
        {"project": lambda C, W_Q, W_K, W_V: (W_Q @ C, W_K @ C, W_K @ C)}
    ],
    Diagnosis("the values are made with W_Q instead of W_V", "wrong_value_matrix"): [
        {"project": lambda C, W_Q, W_K, W_V: (W_Q @ C, W_K @ C, W_Q @ C)}
    ],
    Diagnosis("the heads take turns at the rows instead of a block of rows each", "heads_take_turns"): [
        {"split": _turns, "join": _turns_back},
        {"split": _turns},
        {"join": _turns_back},
    ],
    Diagnosis("there is one head instead of several", "heads_not_split"): [
        {"one_head": True, "scale": lambda d, heads, n, e: 1 / sqrt(d)},
        {"one_head": True},
    ],
    _MIXED: [
        {"split": split, "join": join}
        for split in (_tokens_cut, _flat, _flat_by_head)
        for join in (joined, _tokens_cut_back, _flat_back, _flat_by_head_back)
    ],
    _MIXED_BACK: [{"join": join} for join in (_tokens_cut_back, _flat_back, _flat_by_head_back)],
    Diagnosis("the heads are averaged instead of joined", "heads_averaged"): [{"join": _averaged}],
    Diagnosis("the heads are added instead of joined", "heads_added"): [{"join": _added}],
    Diagnosis("the heads are joined in the reverse order", "heads_reversed"): [
        {"join": lambda X, heads: joined(X[::-1], heads)}
    ],
    Diagnosis("only one head is used", "one_head_used"): [
        {"join": lambda X, heads: np.tile(X[0], (heads, 1))},
        {"join": lambda X, heads: np.tile(X[-1], (heads, 1))},
        {"join": lambda X, heads: joined(np.where(np.arange(heads)[:, None, None] == 0, X, 0), heads)},
        {"join": lambda X, heads: joined(np.where(np.arange(heads)[:, None, None] == heads - 1, X, 0), heads)},
    ],
    Diagnosis("W_O is left out", "no_output_projection"): [{"output": lambda W_O, H, heads: H}],
    Diagnosis("every head is multiplied by the same columns of W_O instead of its own", "output_columns_reused"): [
        {"output": lambda W_O, H, heads: W_O[:, : len(H) // heads] @ blocks(H, heads).sum(axis=0)},
        {"output": lambda W_O, H, heads: W_O[:, -len(H) // heads :] @ blocks(H, heads).sum(axis=0)},
    ],
    Diagnosis("the result is divided by the number of heads", "divided_by_heads"): [
        {"output": lambda W_O, H, heads: W_O @ H / heads}
    ],
    Diagnosis("C is added to the output, as a residual connection does", "residual_added"): [
        {"result": lambda H, C: H + C}
    ],
    CAUSAL: [
        {"default_mask": causal_mask},
        {"default_mask": causal_mask, "masking": _as(lambda mask: mask & causal_mask(len(mask)))},
        {"default_mask": causal_mask, "masking": _as(lambda mask: causal_mask(len(mask)))},
    ],
    Diagnosis("keys before the query's own position are hidden", "hides_earlier_tokens"): [
        {"default_mask": lambda n: causal_mask(n).T},
        {"default_mask": lambda n: causal_mask(n).T, "masking": _as(lambda mask: causal_mask(len(mask)).T)},
    ],
}

MASKS: Ways = {
    Diagnosis("the mask is ignored", "not_masked"): [{"masking": _in_heads(lambda head: False)}],
    Diagnosis("the mask is read transposed, with the query in the row", "mask_transposed"): [
        {"masking": _as(np.transpose)}
    ],
    CAUSAL: [{"masking": _as(lambda mask: causal_mask(len(mask)))}],
    Diagnosis("the mask is read the wrong way round, True as 'may not'", "mask_inverted"): [
        {"masking": _as(np.logical_not)}
    ],
    Diagnosis("the mask is read transposed and the wrong way round", "mask_transposed__mask_inverted"): [
        {"masking": _as(lambda mask: ~mask.T)}
    ],
    Diagnosis(
        "the mask is applied after the softargmax, so that the weights left do not sum to one", "mask_after_softmax"
    ): [{"masking": lambda scores, mask, beta, weigh, head: weigh(scores, beta) * mask}],
    Diagnosis("masked scores are set to 0 instead of −∞, and exp(0) is 1", "masked_scores_are_zero"): [
        {"masking": filled(0.0)}
    ],
    Diagnosis("masked scores are set to a number that is not low enough", "masked_scores_too_high"): [
        {"masking": filled(filling)} for filling in (-1.0, -5.0, -10.0)
    ],
    Diagnosis("the mask is added to the scores as 0 and 1", "mask_added"): [
        {"masking": lambda scores, mask, beta, weigh, head: weigh(beta * scores + mask, 1.0)},
        {"masking": lambda scores, mask, beta, weigh, head: weigh(beta * scores - mask, 1.0)},
        {"masking": lambda scores, mask, beta, weigh, head: weigh(scores + mask, beta)},
    ],
    Diagnosis("the mask is applied in the first head only", "mask_in_some_heads"): [
        {"masking": _in_heads(lambda head: head == 0)}
    ],
    Diagnosis("the mask is applied in all heads but the first", "mask_in_some_heads"): [
        {"masking": _in_heads(lambda head: head > 0)}
    ],
    Diagnosis("the mask hides whole tokens instead of single pairs", "mask_hides_tokens"): [
        {"masking": _as(lambda mask: np.broadcast_to(mask.all(axis=1)[:, None], mask.shape))},
        {"masking": _as(lambda mask: np.broadcast_to(mask[0][:, None], mask.shape))},
        {"masking": _as(lambda mask: np.broadcast_to(mask[:, :1], mask.shape))},
    ],
}

SEVERAL_HEADS_ON_SQUARES: Ways = {
    Diagnosis("W_O is multiplied as W_Oᵀ", "output_projection_transposed"): [
        {"output": lambda W_O, H, heads: W_O.T @ H}
    ],
    Diagnosis("W_O is multiplied from the right", "output_projection_right"): [
        {"output": lambda W_O, H, heads: H @ W_O},
        {"output": lambda W_O, H, heads: H @ W_O.T},
    ],
    Diagnosis("the values are not projected by W_V", "no_value_projection"): [
        {"project": lambda C, W_Q, W_K, W_V: (W_Q @ C, W_K @ C, C)}
    ],
    Diagnosis("C is not projected by W_Q, W_K and W_V", "no_projections"): [
        {"project": lambda C, W_Q, W_K, W_V: (C, C, C)}
    ],
    Diagnosis("queries, keys and values are made with the transposed matrices", "projections_transposed"): [
        {"project": lambda C, W_Q, W_K, W_V: (W_Q.T @ C, W_K.T @ C, W_V.T @ C)},
        {
            "project": lambda C, W_Q, W_K, W_V: (W_Q.T @ C, W_K.T @ C, W_V.T @ C),
            "output": lambda W_O, H, heads: W_O.T @ H,
        },
    ],
    Diagnosis("C is multiplied from the left (C·W); here every column of C is a token (W·C)", "rows_as_tokens"): [
        {
            "project": lambda C, W_Q, W_K, W_V, turn=turn: tuple((C @ turn(W)).T for W in (W_Q, W_K, W_V)),
            "output": lambda W_O, H, heads, turn=turn: H.T @ turn(W_O),
            "result": result,
        }
        for turn in (np.asarray, np.transpose)
        for result in (lambda H, C: H, lambda H, C: H.T)
    ],
}
