"""Multi-head self-attention on queries, keys and values already projected, and its classic mistakes by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np

from grader.checks.modules.recovery.arithmetic import future, join_heads, softmax, split_heads
from grader.checks.modules.recovery.projections import Projection
from grader.compare import Array

Mix = Callable[[Array, Array, Array, int], Array]


@dataclass(frozen=True)
class _Mixing:
    """softmax(QKᵀ/√(D/H)) V for each head; each slip changes one thing."""

    scale: Callable[[int, int], float] = lambda width, heads: 1 / sqrt(width / heads)
    weigh: Callable[[Array], Array] = softmax
    split: Callable[[Array, int], Array] = split_heads
    join: Callable[[Array], Array] = join_heads
    one_head: bool = False

    def __call__(self, q: Array, k: Array, v: Array, heads: int) -> Array:
        width = q.shape[-1]
        heads = 1 if self.one_head else heads
        q, k, v = (self.split(each, heads) for each in (q, k, v))  # (B, H, N, D/H)
        scores = q @ k.swapaxes(-1, -2) * self.scale(width, heads)  # (B, H, N, N)
        return self.join(self.weigh(scores) @ v)


def _view_as_heads(x: Array, heads: int) -> Array:
    return x.reshape(len(x), heads, x.shape[1], -1)


def _view_as_rows(x: Array) -> Array:
    return x.reshape(len(x), x.shape[2], -1)


def _over_the_batch(q: Array, k: Array, v: Array, heads: int) -> Array:
    return _Mixing()(q.swapaxes(0, 1), k.swapaxes(0, 1), v.swapaxes(0, 1), heads).swapaxes(0, 1)


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


def _unmasked_self(scores: Array) -> Array:
    return softmax(np.where(np.eye(scores.shape[-1], dtype=bool), -1e10, scores))


RIGHT = ""
_SCALED = "divided by √(dim/heads)"
MIXES: dict[str, list[Mix]] = {
    RIGHT: [_Mixing()],
    f"the scores are not {_SCALED}": [_Mixing(scale=lambda width, heads: 1.0)],
    f"the scores are divided by √dim; they should be {_SCALED}": [_Mixing(scale=lambda width, heads: 1 / sqrt(width))],
    "the scores are divided by dim/heads, without the root": [_Mixing(scale=lambda width, heads: heads / width)],
    f"the scores are multiplied by √(dim/heads); they should be {_SCALED}": [
        _Mixing(scale=lambda width, heads: sqrt(width / heads))
    ],
    "the scores are divided by √heads instead of √(dim/heads)": [_Mixing(scale=lambda width, heads: 1 / sqrt(heads))],
    "the softmax runs over the queries instead of the keys": [_Mixing(weigh=partial(softmax, axis=-2))],
    "the softmax runs over the heads instead of the keys": [_Mixing(weigh=partial(softmax, axis=1))],
    "the softmax runs over the batch instead of the keys": [_Mixing(weigh=partial(softmax, axis=0))],
    "there is one head instead of several": [
        _Mixing(one_head=True),
        *(  # mypy cannot infer the type of a lambda with a default
            _Mixing(one_head=True, scale=lambda width, heads, own=own: 1 / sqrt(width / own))  # type: ignore[misc]
            for own in (2, 4, 5)
        ),
    ],
    "the heads are made by view() without a transpose, which mixes tokens": [
        _Mixing(split=_view_as_heads),
        _Mixing(split=_view_as_heads, join=_view_as_rows),
    ],
    "the heads are joined without the transpose back, which mixes tokens": [_Mixing(join=_view_as_rows)],
    "the attention runs over the batch instead of the tokens (nn.MultiheadAttention needs batch_first=True)": [
        _over_the_batch
    ],
    "the attention runs over the heads of each token instead of the tokens": [_over_heads],
    "the attention runs over the channels instead of the tokens": [
        partial(mix, by=by, turned=turned)
        for mix in (_over_channels, lambda q, k, v, heads, **how: _over_channels(q, k, v, 1, **how))
        for by in ("head", "width", "tokens", "nothing")
        for turned in (False, True)
    ],
    "a mask hides later tokens; an encoder sees them all": [
        _Mixing(weigh=lambda scores: softmax(np.where(future(*scores.shape[-2:]), -1e10, scores)))
    ],
    "each token is hidden from itself": [_Mixing(weigh=_unmasked_self)],
    "the softmax is left out": [_Mixing(weigh=lambda scores: scores)],
    "the weights are not normalised": [_Mixing(weigh=np.exp)],
    "the scale is applied behind the softmax": [
        lambda q, k, v, heads: _Mixing(scale=lambda width, heads: 1.0)(q, k, v, heads) / sqrt(q.shape[-1] / heads)
    ],
    "every token gets the same weight": [_Mixing(weigh=lambda scores: np.full_like(scores, 1 / scores.shape[-1]))],
}


def attention(
    x: Array, q: Projection, k: Projection, v: Projection, out: Callable[[Array], Array], heads: int, mix: Mix
) -> Array:
    return out(mix(q(x), k(x), v(x), heads))
