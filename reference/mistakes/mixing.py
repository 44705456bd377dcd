"""Multi-head attention's classic mistakes by name: self-attention's, and those of cross-attention."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt

import numpy as np

from reference.equations import Array, identity, join_heads, softmax, split_heads
from reference.mistakes.diagnosis import Diagnosis
from reference.variations import Mixing, causal, masked

Mix = Callable[[Array, Array, Array, int], Array]


def view_as_heads(x: Array, heads: int) -> Array:
    """As split_heads, without the transpose."""
    return x.reshape(len(x), heads, x.shape[1], -1)


def view_as_rows(x: Array) -> Array:
    """As join_heads, without the transpose."""
    return x.reshape(len(x), x.shape[2], -1)


def _over_the_batch(q: Array, k: Array, v: Array, heads: int) -> Array:
    return Mixing()(q.swapaxes(0, 1), k.swapaxes(0, 1), v.swapaxes(0, 1), heads).swapaxes(0, 1)


def _over_heads(q: Array, k: Array, v: Array, heads: int) -> Array:
    """Each token's heads attend to each other: the transpose that puts tokens next to features is missing."""
    q, k, v = (split_heads(each, heads).swapaxes(1, 2) for each in (q, k, v))  # (B, N, H, D/H)
    mixed = softmax(q @ k.swapaxes(-1, -2) / sqrt(q.shape[-1])) @ v
    return mixed.reshape(*mixed.shape[:2], -1)


def _over_channels(q: Array, k: Array, v: Array, heads: int, by: str, turned: bool) -> Array:
    size = {"head": q.shape[-1] / heads, "width": q.shape[-1], "tokens": q.shape[1], "nothing": 1}[by]
    q, k, v = (split_heads(each, heads) for each in (q, k, v))
    weights = softmax(q.swapaxes(-1, -2) @ k / sqrt(size))  # (B, H, D/H, D/H)
    return join_heads(v @ (weights.swapaxes(-1, -2) if turned else weights))


def _from_the_batch(x: Array) -> Array:
    """As join_heads for heads that stand before the batch in one axis, taken for batch before heads."""
    return join_heads(x.swapaxes(0, 1).reshape(x.shape))


def _unmasked_self(scores: Array) -> Array:
    return softmax(masked(scores, np.eye(scores.shape[-1], dtype=bool)))


RIGHT = Diagnosis("")
VIEWED = Diagnosis("the heads are made by view() without a transpose, which mixes tokens", "heads_split_by_view")
JOINED = Diagnosis("the heads are joined without the transpose back, which mixes tokens", "heads_joined_by_view")
OVER_QUERIES = Diagnosis("the softmax runs over the queries instead of the keys", "softmax_over_wrong_axis")
OVER_HEADS = Diagnosis("the softmax runs over the heads instead of the keys", "softmax_over_wrong_axis")
HIDES_LATER = Diagnosis("a mask hides later tokens; an encoder sees them all", "hides_later_tokens")
HIDES_ITSELF = Diagnosis("each token is hidden from itself", "token_hidden_from_itself")
NO_SOFTMAX = Diagnosis("the softmax is left out", "no_softmax")
NOT_NORMALISED = Diagnosis("the weights are not normalised", "weights_not_normalised")
SCALED_BEHIND = Diagnosis("the scale is applied behind the softmax", "scale_behind_softmax")
AMONG_HEADS = Diagnosis("the attention runs over the heads of each token instead of the tokens", "attention_over_heads")
AMONG_CHANNELS = Diagnosis("the attention runs over the channels instead of the tokens", "attention_over_channels")
UNMASKED = Diagnosis("nothing is masked", "not_masked")
NO_OUTPUT = Diagnosis("the output projection is left out", "no_output_projection")
NO_MAPS_OF_ITS_OWN = Diagnosis(
    "queries, keys and values are not learned maps of the tokens, each its own, with one more behind them",
    "no_projections",
)
_SCALED = "divided by √(dim/heads)"
SELF_ATTENTION: dict[Diagnosis, list[Mix]] = {
    RIGHT: [Mixing()],
    Diagnosis(f"the scores are not {_SCALED}", "scores_not_scaled"): [Mixing(scale=lambda width, heads: 1.0)],
    Diagnosis(f"the scores are divided by √dim; they should be {_SCALED}", "scaled_by_whole_width"): [
        Mixing(scale=lambda width, heads: 1 / sqrt(width))
    ],
    Diagnosis("the scores are divided by dim/heads, without the root or by the root twice", "scaled_too_much"): [
        Mixing(scale=lambda width, heads: heads / width)
    ],
    Diagnosis(f"the scores are multiplied by √(dim/heads); they should be {_SCALED}", "scores_multiplied"): [
        Mixing(scale=lambda width, heads: sqrt(width / heads))
    ],
    Diagnosis("the scores are divided by √heads instead of √(dim/heads)", "scaled_by_heads"): [
        Mixing(scale=lambda width, heads: 1 / sqrt(heads))
    ],
    OVER_QUERIES: [Mixing(weigh=partial(softmax, axis=-2))],
    OVER_HEADS: [Mixing(weigh=partial(softmax, axis=1))],
    Diagnosis("the softmax runs over the batch instead of the keys", "softmax_over_wrong_axis"): [
        Mixing(weigh=partial(softmax, axis=0))
    ],
    Diagnosis("there is one head instead of several", "heads_not_split"): [
        Mixing(one_head=True),
        *(  # mypy cannot infer the type of a lambda with a default
            Mixing(one_head=True, scale=lambda width, heads, own=own: 1 / sqrt(width / own))  # type: ignore[misc]
            for own in (2, 4, 5)
        ),
    ],
    VIEWED: [
        Mixing(split=view_as_heads),
        Mixing(split=view_as_heads, join=view_as_rows),
    ],
    JOINED: [Mixing(join=view_as_rows), Mixing(join=_from_the_batch)],
    Diagnosis(
        "the attention runs over the batch instead of the tokens (nn.MultiheadAttention needs batch_first=True)",
        "attention_over_batch",
    ): [_over_the_batch],
    AMONG_HEADS: [_over_heads],
    AMONG_CHANNELS: [
        partial(mix, by=by, turned=turned)
        for mix in (_over_channels, lambda q, k, v, heads, **how: _over_channels(q, k, v, 1, **how))
        for by in ("head", "width", "tokens", "nothing")
        for turned in (False, True)
    ],
    HIDES_LATER: [Mixing(weigh=causal)],
    HIDES_ITSELF: [Mixing(weigh=_unmasked_self)],
    NO_SOFTMAX: [Mixing(weigh=identity)],
    NOT_NORMALISED: [Mixing(weigh=np.exp)],
    SCALED_BEHIND: [
        lambda q, k, v, heads: Mixing(scale=lambda width, heads: 1.0)(q, k, v, heads) / sqrt(q.shape[-1] / heads)
    ],
    Diagnosis("every token gets the same weight", "uniform_weights"): [
        Mixing(weigh=lambda scores: np.full_like(scores, 1 / scores.shape[-1]))
    ],
}

UNSCALED = Diagnosis("the scores are not divided by √(n_embd/n_head)", "scores_not_scaled")
CROSS_ATTENTION = {
    UNSCALED: Mixing(scale=lambda width, heads: 1.0),
    Diagnosis("the scores are divided by √n_embd instead of √(n_embd/n_head)", "scaled_by_whole_width"): Mixing(
        scale=lambda width, heads: 1 / sqrt(width)
    ),
    OVER_QUERIES: Mixing(weigh=partial(softmax, axis=-2)),
    Diagnosis("there is one head instead of n_head", "heads_not_split"): Mixing(one_head=True),
}
