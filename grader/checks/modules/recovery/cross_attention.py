"""A Perceiver block taken apart: cross-attention first, with the MLP silenced, then the MLP on what that gave.

The assignment leaves open a residual round the attention, a LayerNorm on either of its inputs, and where the LayerNorms
stand; each combination is a reading, and a block is right if one of them gives its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from math import sqrt

import numpy as np

from grader.checks.modules.recovery import arithmetic
from grader.checks.modules.recovery.layers import Linear, Map, Norm, Values, assignments, linears, norms
from grader.checks.modules.recovery.workbench import HEAD, HEADS, WIDTH
from grader.compare import Array

ROLES = ("query", "key", "value", "output")


def _identity(x: Array) -> Array:
    return x


@dataclass(frozen=True)
class Attending:
    """How the weights come from the scores; the defaults are right, and each slip changes one of them."""

    scale: float = 1 / sqrt(HEAD)
    heads: int = HEADS
    axis: int = -1
    projects: bool = True


SLIPS = {
    "the scores are not divided by √(n_embd/n_head)": Attending(scale=1.0),
    "the scores are divided by √n_embd instead of √(n_embd/n_head)": Attending(scale=1 / sqrt(WIDTH)),
    "the softmax runs over the queries instead of the keys": Attending(axis=-2),
    "there is one head instead of n_head": Attending(scale=1 / sqrt(WIDTH), heads=1),
    "the output projection is left out": Attending(projects=False),
}


@dataclass(frozen=True)
class AttentionReading:
    masked: bool
    roles: tuple[Map, ...]  # query, key, value, output
    norm_asked: Norm | None  # on keys and values
    norm_asking: Norm | None  # on queries
    residual: str  # "none", "plain" or "normed"
    ends: tuple[Norm, ...]  # LayerNorms behind the attention, seen with the MLP silenced


def normed(x: Array, norm: Norm | None, values: Values) -> Array:
    return x if norm is None else arithmetic.layer_norm(x, values[norm.gain].squeeze(), values[norm.shift].squeeze())


def possible_endings(values: Values, output: Array) -> list[tuple[Norm, ...]]:
    """Which LayerNorms may stand last: what they gave has mean 0 and variance 1 once gain and shift are undone."""
    found = norms(values, WIDTH)
    endings: list[tuple[Norm, ...]] = [()]
    for last in found:
        undone = (output - values[last.shift].squeeze()) / values[last.gain].squeeze()
        if np.allclose(undone.mean(axis=-1), 0, atol=0.01) and np.allclose(undone.var(axis=-1), 1, atol=0.01):
            endings += [(last,), *((first, last) for first in found)]
    return endings


def attention_readings(
    values: Values,
    layers: list[Map],
    asked: Callable[..., Array],
    asking: Callable[..., Array],
    endings: list[tuple[Norm, ...]],
    way: Attending | None = None,
) -> Iterator[tuple[AttentionReading, Callable[..., Array]]]:
    """Every reading of the attention with one of these endings, and the function of the block's inputs that it is.

    `asked` and `asking` pick from these inputs whose keys and values, and whose queries, there are.
    """
    attending = way or Attending()
    found = [None, *norms(values, WIDTH)]
    mixed = lru_cache(maxsize=None)(partial(_mixed, _Arrays(values), asked, asking, attending))
    roles = ROLES if attending.projects else ROLES[:3]
    for chosen, masked in product(assignments(layers, roles), (True, False)):
        given = tuple(chosen[role] for role in roles)
        for norm_asked, norm_asking in product(found, found):
            core = partial(mixed, given, masked, norm_asked, norm_asking)
            residuals = ("none", "plain", "normed") if norm_asking else ("none", "plain")
            for residual, ends in product(residuals, endings):
                reading = AttentionReading(masked, given, norm_asked, norm_asking, residual, ends)
                yield reading, partial(_completed, reading, core, asking, values)


def stream(
    values: Values, reading: AttentionReading, asked: Callable[..., Array], asking: Callable[..., Array], *inputs: Array
) -> Array:
    """What the attention gives in this reading, before any LayerNorm behind it."""
    core = partial(
        _mixed,
        values,
        asked,
        asking,
        Attending(),
        reading.roles,
        reading.masked,
        reading.norm_asked,
        reading.norm_asking,
    )
    return _completed(replace(reading, ends=()), core, asking, values, *inputs)


def _completed(
    reading: AttentionReading, core: Callable[..., Array], asking: Callable[..., Array], values: Values, *inputs: Array
) -> Array:
    mixed = core(*(_Input(array) for array in inputs))
    if reading.residual != "none":
        queries = asking(*inputs)
        mixed = mixed + normed(queries, reading.norm_asking if reading.residual == "normed" else None, values)
    for norm in reading.ends:
        mixed = normed(mixed, norm, values)
    return mixed


class _Input:
    """An array that can be a key of a cache: the same object is the same input."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __hash__(self) -> int:
        return id(self.array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Input) and self.array is other.array


class _Arrays(dict[str, Array]):
    """Parameters that are the same while this object lives."""

    def __hash__(self) -> int:  # type: ignore[override]  # dict says it has none
        return id(self)


def _mixed(
    values: Values,
    asked: Callable[..., Array],
    asking: Callable[..., Array],
    way: Attending,
    roles: tuple[Map, ...],
    masked: bool,
    norm_asked: Norm | None,
    norm_asking: Norm | None,
    *inputs: _Input,
) -> Array:
    arrays = [each.array for each in inputs]
    sources = normed(asked(*arrays), norm_asked, values)  # (B, S, D)
    queries = normed(asking(*arrays), norm_asking, values)  # (B, T, D)
    q, k, v = (
        arithmetic.split_heads(layer(x, values), way.heads)
        for layer, x in zip(roles[:3], (queries, sources, sources), strict=True)
    )
    scores = q @ k.swapaxes(-1, -2) * way.scale  # (B, H, T, S)
    if masked:
        scores = np.where(arithmetic.future(*scores.shape[-2:]), -1e10, scores)
    joined = arithmetic.join_heads(arithmetic.softmax(scores, axis=way.axis) @ v)  # (B, T, D)
    return roles[3](joined, values) if way.projects else joined


@dataclass(frozen=True)
class MlpReading:
    norm: Norm | None
    activation: str


def mlp_layers(values: Values) -> list[tuple[Linear, Linear]]:
    """Pairs of maps that widen and narrow again."""
    widths = {side for value in values.values() if len(sides := value.squeeze().shape) == 2 for side in sides}
    pairs: list[tuple[Linear, Linear]] = []
    for hidden in sorted(widths - {WIDTH}):
        both = product(linears(values, WIDTH, hidden), linears(values, hidden, WIDTH))
        pairs += [(widen, narrow) for widen, narrow in both if widen.rows is None and widen.weight != narrow.weight]
    return pairs


def mlp_readings(
    values: Values, pair: tuple[Linear, Linear], ends: tuple[Norm, ...]
) -> Iterator[tuple[MlpReading, Callable[..., Array]]]:
    """Every reading of what follows the attention, as a function of what the attention gave.

    A LayerNorm seen behind the attention stands before the MLP and its residual, or behind both.
    """
    activations = {**arithmetic.ACTIVATIONS, "none": _identity}
    places = [(ends[:split], ends[split:]) for split in range(len(ends) + 1)]
    for (name, activation), inner, (before, behind) in product(
        activations.items(), [*norms(values, WIDTH), None], places
    ):
        norm = inner or next(iter((*behind, *before)), None)
        yield MlpReading(norm, name), partial(_follow, values, pair, activation, inner, before, behind)


def _follow(
    values: Values,
    pair: tuple[Linear, Linear],
    activation: Callable[[Array], Array],
    inner: Norm | None,
    before: tuple[Norm, ...],
    behind: tuple[Norm, ...],
    x: Array,
) -> Array:
    for norm in before:
        x = normed(x, norm, values)
    widen, narrow = pair
    x = x + narrow(activation(widen(normed(x, inner, values), values)), values)
    for norm in behind:
        x = normed(x, norm, values)
    return x
