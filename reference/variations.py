"""Three ways to mix tokens, done right and otherwise, on what a module's own layers made of them, (B, T, D) each.

Each field of these classes is one thing that can be done otherwise. The defaults are right; `reference.mistakes` names
what students do instead. Tests hold them against `reference.transformer`, `reference.gpt` and `reference.rope`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from reference.equations import ACTIVATIONS, Array, Function, identity, join_heads, softmax, split_heads
from reference.rope import angles, turn

Scale = Callable[[int, int], float]  # of the width and the number of heads
Angles = Callable[[int, int], Array]  # of width and number of positions: (positions, width/2)


def future(queries: int, keys: int, first: int = 1) -> NDArray[np.bool_]:
    """True where key s lies `first` rows or more behind query t."""
    return ~np.tri(queries, keys, first - 1, dtype=np.bool_)


def masked(scores: Array, hidden: NDArray[np.bool_]) -> Array:
    """So far below all others, where `hidden`, that a softmax gives them nothing."""
    return np.asarray(np.where(hidden, -1e10, scores))


def causal(scores: Array) -> Array:
    """Softmax over the keys that are no later than the query."""
    return softmax(masked(scores, future(*scores.shape[-2:])))


@dataclass(frozen=True)
class Mixing:
    """softmax(QKᵀ/√(D/H)) V for each head."""

    scale: Scale = lambda width, heads: 1 / sqrt(width / heads)
    weigh: Function = softmax
    split: Callable[[Array, int], Array] = split_heads
    join: Function = join_heads
    masked: bool = False
    one_head: bool = False

    def __call__(self, q: Array, k: Array, v: Array, heads: int) -> Array:
        heads = 1 if self.one_head else heads
        return self.join(self.weights(q, k, heads) @ self.split(v, heads))

    def weights(self, q: Array, k: Array, heads: int) -> Array:
        """(B, H, N, N)."""
        width = q.shape[-1]
        q, k = self.split(q, heads), self.split(k, heads)  # (B, H, N, D/H)
        scores = q @ k.swapaxes(-1, -2) * self.scale(width, heads)  # (B, H, N, N)
        if self.masked:
            scores = masked(scores, future(*scores.shape[-2:]))
        return self.weigh(scores)


@dataclass(frozen=True)
class RotaryMixing:
    """Causal attention with queries and keys rotated in each head."""

    of: Angles = angles
    rotated: str = "qk"
    backwards: str = ""
    whole: bool = False  # before the heads are split
    mix: Mixing = Mixing(masked=True)

    def __call__(self, q: Array, k: Array, v: Array, heads: int, pairs: Array) -> Array:
        """`pairs` says which features of a head are turned together: (D/H/2, 2)."""
        return self.mix(*self.turned(q, k, v, heads, pairs), heads)

    def turned(self, q: Array, k: Array, v: Array, heads: int, pairs: Array) -> tuple[Array, Array, Array]:
        turn_one = partial(self._turned, heads=heads, pairs=pairs)
        return turn_one("q", q), turn_one("k", k), turn_one("v", v)

    def _turned(self, letter: str, x: Array, heads: int, pairs: Array) -> Array:
        if letter not in self.rotated:
            return x
        if self.whole:
            heads, pairs = 1, np.arange(x.shape[-1]).reshape(-1, 2)
        by_head = split_heads(x, heads)
        angle = self.of(by_head.shape[-1], x.shape[1])
        return join_heads(turn(by_head, -angle if letter in self.backwards else angle, pairs))


@dataclass(frozen=True)
class Synthesis:
    """softmax(mask(ReLU(x W₁ + b₁) w₂[:, :T] + b₂[:T])) V."""

    activation: Function = ACTIVATIONS["ReLU"]
    on_scores: Function = identity
    scale: Scale = lambda width, heads: 1.0
    scale_before_bias: Scale = lambda width, heads: 1.0
    weigh: Function = causal
    columns: Callable[[int], slice] = slice
    split: Callable[[Array, int], Array] = split_heads
    join: Function = join_heads

    def __call__(self, hidden: Array, scoring: Function, v: Array, heads: int) -> Array:
        """`hidden` is x W₁ + b₁; `scoring` multiplies by w₂ and adds b₂."""
        _, weights = self.steps(hidden, scoring, heads)
        return self.join(weights @ self.split(v, heads))

    def steps(self, hidden: Array, scoring: Function, heads: int) -> tuple[Array, Array]:
        """Scores and weights, (B, H, T, T)."""
        tokens, width = hidden.shape[1:]
        rows = self.split(self.activation(hidden), heads)  # (B, H, T, D/H)
        rows = rows * self.scale_before_bias(width, heads)
        scores = self.on_scores(scoring(rows)[..., self.columns(tokens)] * self.scale(width, heads))
        return scores, self.weigh(scores)
