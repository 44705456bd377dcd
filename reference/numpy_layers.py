"""For the mistakes, until they import `equations` and `rope` themselves."""

from __future__ import annotations

import numpy as np

from reference.equations import (  # noqa: F401
    ACTIVATIONS,
    Array,
    Function,
    identity,
    join_heads,
    layer_norm,
    softmax,
    split_heads,
)
from reference.rope import angles, rotate  # noqa: F401


def future(queries: int, keys: int, first: int = 1) -> Array:
    """True where key s lies `first` rows or more behind query t."""
    return ~np.tri(queries, keys, first - 1, dtype=bool)


def masked(scores: Array, hidden: Array) -> Array:
    """So far below all others, where `hidden`, that a softmax gives them nothing."""
    return np.asarray(np.where(hidden, -1e10, scores))


def turn(x: Array, angle: Array, pairs: Array) -> Array:
    """Rotate features pairs[i] of x (…, T, D) by angle[t, i]."""
    order = pairs.ravel()
    turned = np.empty_like(x)
    turned[..., order] = rotate(x[..., order], np.cos(angle), np.sin(angle))
    return turned
