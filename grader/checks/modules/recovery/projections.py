"""The maps of multi-head attention, found among a module's tensors however they are packed.

A tensor may hold one map, two or three; per head, in blocks, or with the heads taking turns; a matrix, one axis for
each head, or a layer for each head. All of that is left open, because the weights are learned: each way is a candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from grader.checks.modules.recovery.layers import Stacked, Values, is_weight, leaf_alike, maps, partner
from grader.compare import Array


@dataclass(frozen=True)
class Projection:
    """x → xW + b with numbers in place, and which part of which tensor they are."""

    weight: str
    bias: str
    layout: tuple[str, ...]
    slot: int
    matrix: Array
    offset: Array

    def __call__(self, x: Array) -> Array:
        return np.asarray(x @ self.matrix + self.offset)

    def goes_with(self, other: Projection) -> bool:
        """Whether both can be in use at once: parts of one packed tensor are read in one way."""
        if self.weight == other.weight:
            return self.layout == other.layout and self.slot != other.slot
        return not self.bias or self.bias != other.bias


def inward(values: Values, names: Iterable[str], width: int, heads: int) -> list[Projection]:
    """Every map from `width` features to queries, keys or values, their features ordered by head."""
    sizes = {"head": heads, "feature": width // heads}
    found = []
    for name in sorted(names):
        for matrix in _with_first_axis(values, name, width):  # (D, all that is made of it)
            packed = matrix.shape[1] // width
            if matrix.shape[1] != packed * width or packed not in (1, 2, 3):
                continue
            axes = {**sizes, "part": packed} if packed > 1 else sizes
            for bias in _biases(values, name, matrix.shape[1]):
                offset = values[bias].reshape(-1) if bias else np.zeros(matrix.shape[1])
                for layout in _layouts(axes):
                    both = np.vstack([matrix, offset]).reshape(-1, *(axes[axis] for axis in layout))
                    parts = _ordered(both, layout, packed, width)
                    found += [Projection(name, bias, layout, n, part[:-1], part[-1]) for n, part in enumerate(parts)]
    return [*found, *_stacked(values, set(names), width, heads)]


def _layouts(axes: dict[str, int]) -> list[tuple[str, ...]]:
    """Every order of the axes that is another order of the numbers."""
    long = [axis for axis, size in axes.items() if size > 1]
    short = tuple(axis for axis, size in axes.items() if size == 1)
    return [(*short, *order) for order in permutations(long)]


def _ordered(both: Array, layout: tuple[str, ...], packed: int, width: int) -> Array:
    wanted = ("part", "head", "feature") if packed > 1 else ("head", "feature")
    order = [1 + layout.index(axis) for axis in wanted]
    return both.transpose(0, *order).reshape(len(both), packed, width).swapaxes(0, 1)


def _stacked(values: Values, names: set[str], width: int, heads: int) -> Iterator[Projection]:
    for number, layer in enumerate(maps(values, width, heads)):
        # One part in use will do: where a head's softmax saturates, its other layers may seem to have no influence.
        if isinstance(layer, Stacked) and {part.weight for part in layer.parts} & names:
            offset = layer(np.zeros(width), values)
            matrix = layer(np.eye(width), values) - offset
            yield Projection(layer.weight, layer.bias, ("stacked",), number, matrix, offset)


def outward(values: Values, names: Iterable[str], width: int, heads: int) -> list[Projection]:
    """Every map from the joined heads, whose features are ordered by head, back to `width` features."""
    found = []
    for name in sorted(names):
        if values[name].size != width * width:
            continue
        for turned in _with_first_axis(values, name, width, first_is_output=True):  # (D, joined)
            for bias in _biases(values, name, width):
                offset = values[bias].reshape(-1) if bias else np.zeros(width)
                by_head = turned.T
                by_turns = by_head.reshape(width // heads, heads, width).swapaxes(0, 1).reshape(width, width)
                found.append(Projection(name, bias, ("head", "feature"), 0, by_head, offset))
                if 1 < heads < width:
                    found.append(Projection(name, bias, ("feature", "head"), 0, by_turns, offset))
    return found


def _with_first_axis(values: Values, name: str, width: int, first_is_output: bool = False) -> Iterator[Array]:
    """The tensor as a matrix with each axis of `width` in front that may stand for inputs, or for outputs."""
    tensor = values[name].squeeze()
    if tensor.ndim < 2 or width not in tensor.shape:
        return
    # torch's own layers keep (out, in); a bare parameter may be kept either way.
    fixed = (0 if first_is_output else 1) if is_weight(name) and tensor.ndim == 2 else None
    for axis, side in enumerate(tensor.shape):
        if side == width and fixed in (None, axis):
            yield np.moveaxis(tensor, axis, 0).reshape(width, -1)


def _biases(values: Values, name: str, size: int) -> list[str]:
    """Which vectors may be added to what this tensor gives; an empty string for none."""
    if is_weight(name):
        own = partner(name, values)
        return [own] if own and values[own].size == size else [""]
    loose = [vector for vector in loose_vectors(values, size) if vector != name]
    alike = [vector for vector in loose if leaf_alike(name, vector)]
    return [*alike, ""] if alike else ["", *loose]


def loose_vectors(values: Values, size: int) -> list[str]:
    """Vectors of this size that are no part of a layer torch knows."""
    owned = {partner(name, values) for name in values}
    return [name for name, value in values.items() if value.size == size and not is_weight(name) and name not in owned]
