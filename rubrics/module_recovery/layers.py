"""Layers found among a module's tensors by shape and by which belong together, whatever they are called.

A tensor may hold one linear map, two or three; per head, in blocks, or with the heads taking turns; a matrix, one axis
for each head, or a layer for each head. All of that is left open, because the weights are learned: each is a candidate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations, product
from typing import Self

import numpy as np

from grader import Array

Values = Mapping[str, Array]
_STACKED = ("stacked",)


@dataclass(frozen=True)
class Linear:
    """x → xW + b with numbers in place, and which part of which tensors they are."""

    weight: str
    bias: str
    layout: tuple[str, ...]  # the axes of what it makes of x, as the tensor keeps them
    slot: int  # which of several maps in one tensor
    axis: int  # of the tensor, that the map starts from
    matrix: Array = field(compare=False)
    offset: Array = field(compare=False)
    parts: tuple[str, ...] = ()  # the weights of a layer for each head

    def __call__(self, x: Array) -> Array:
        return np.asarray(x @ self.matrix + self.offset)

    @property
    def is_packed(self) -> bool:
        return "part" in self.layout

    @property
    def weights(self) -> set[str]:
        return {self.weight, *self.parts}

    def goes_with(self, other: Linear) -> bool:
        """Whether both can be in use at once: parts of one packed tensor are read in one way."""
        if self.weight == other.weight:
            alike = self.layout == other.layout != _STACKED and self.matrix.shape == other.matrix.shape
            return alike and self.slot != other.slot
        return not self.weights & other.weights and (not self.bias or self.bias != other.bias)


@dataclass(frozen=True)
class Norm:
    """A LayerNorm, and which tensors are its gain and its shift; without a name it has none."""

    gain: str
    shift: str
    gains: Array = field(compare=False)
    shifts: Array = field(compare=False)

    @classmethod
    def of(cls, values: Values, gain: str, shift: str) -> Self:
        gains = values[gain].reshape(-1) if gain else np.ones(1)
        return cls(gain, shift, gains, values[shift].reshape(-1) if shift else np.zeros(1))

    def __call__(self, x: Array, how: Callable[[Array, Array, Array], Array]) -> Array:
        return how(x, self.gains, self.shifts)


PLAIN_NORM = Norm.of({}, "", "")
_EPSILON = 1e-5  # torch's


def normalised(x: Array, gain: Array, shift: Array) -> Array:
    """As the reference has it, which checks that students get cannot import."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt(x.var(axis=-1, keepdims=True) + _EPSILON) * gain + shift)


@dataclass(frozen=True)
class Mlp:
    """A map to a hidden layer and one back; some have another hidden layer between."""

    widen: Linear
    narrow: Linear
    between: tuple[Linear, ...] = ()

    def __call__(self, x: Array, activation: Callable[[Array], Array]) -> Array:
        for layer in (self.widen, *self.between):
            x = activation(layer(x))
        return self.narrow(x)

    @property
    def hidden(self) -> int:
        return int(self.widen.matrix.shape[1])

    @property
    def weights(self) -> set[str]:
        return {layer.weight for layer in (self.widen, *self.between, self.narrow)}


def linears(values: Values, inner: int, outer: int, names: Iterable[str] | None = None, heads: int = 0) -> list[Linear]:
    """Every map from `inner` to `outer` features.

    Without `heads`, in a matrix or in blocks of a layer that holds two or three. With them, in any layout and of any
    tensor; what comes out is ordered by head.
    """
    found: list[Linear] = []
    if 0 in (inner, outer):  # torch does make layers of no features
        return []
    for name in sorted(values if names is None else names):
        if not heads and values[name].squeeze().ndim != 2:
            continue
        for axis, matrix in with_first_axis(values, name, inner):  # (D, all that is made of it)
            packed = matrix.shape[1] // outer
            if matrix.shape[1] != packed * outer or packed not in ((1, 2, 3) if heads or is_weight(name) else (1,)):
                continue
            axes = {"part": packed, "head": heads or 1, "feature": outer // (heads or 1)}
            for bias in biases_of(values, name, matrix.shape[1]):
                both = np.vstack([matrix, offset_of(values, bias, matrix.shape[1])])
                for layout in layouts(axes)[: None if heads else 1]:
                    parts = in_order(both.reshape(-1, *(axes[each] for each in layout)), layout, packed, outer)
                    kept = layout if packed > 1 else tuple(each for each in layout if each != "part")
                    found += [Linear(name, bias, kept, n, axis, part[:-1], part[-1]) for n, part in enumerate(parts)]
    return found


def maps(
    values: Values, width: int, heads: int, names: Iterable[str] | None = None, any_layout: bool = False
) -> list[Linear]:
    """Every map from `width` to `width` features, be it one layer or one for each head."""
    names = set(values if names is None else names)
    # One part in use will do: where a head's softmax saturates, its other layers may seem to have no influence.
    stacks = [stack for stack in _stacks(values, width, heads) if stack.weights & names]
    return [*linears(values, width, width, names, heads if any_layout else 0), *stacks]


def outward(values: Values, names: Iterable[str], width: int, heads: int) -> list[Linear]:
    """Every map from the joined heads, whose features are ordered by head, back to `width` features."""
    found = []
    for name in sorted(names):
        if values[name].size != width * width:
            continue
        for axis, turned in with_first_axis(values, name, width, first_is_output=True):  # (D, joined)
            for bias in biases_of(values, name, width):
                offset, by_head = offset_of(values, bias, width), turned.T
                by_turns = by_head.reshape(width // heads, heads, width).swapaxes(0, 1).reshape(width, width)
                found.append(Linear(name, bias, ("head", "feature"), 0, axis, by_head, offset))
                if 1 < heads < width:
                    found.append(Linear(name, bias, ("feature", "head"), 0, axis, by_turns, offset))
    return found


def with_first_axis(
    values: Values, name: str, width: int, first_is_output: bool = False
) -> Iterator[tuple[int, Array]]:
    """The tensor as a matrix with each axis of `width` in front that may stand for inputs, or for outputs."""
    tensor = values[name].squeeze()
    if tensor.ndim < 2 or width not in tensor.shape:
        return
    # torch's own layers keep (out, in); a bare parameter may be kept either way.
    fixed = (0 if first_is_output else 1) if is_weight(name) and tensor.ndim == 2 else None
    for axis, side in enumerate(tensor.shape):
        if side == width and fixed in (None, axis):
            yield axis, np.moveaxis(tensor, axis, 0).reshape(width, -1)


def layouts(axes: dict[str, int]) -> list[tuple[str, ...]]:
    """Every order of the axes that is another order of the numbers, the usual one first."""
    long = [axis for axis, size in axes.items() if size > 1]
    short = tuple(axis for axis, size in axes.items() if size == 1)
    return [(*short, *order) for order in permutations(long)]


def in_order(both: Array, layout: tuple[str, ...], packed: int, width: int) -> Array:
    order = [1 + layout.index(axis) for axis in ("part", "head", "feature")]
    return both.transpose(0, *order).reshape(len(both), packed, width).swapaxes(0, 1)


def _stacks(values: Values, width: int, heads: int) -> Iterator[Linear]:
    """One map made of a layer for each head, side by side."""
    alike: dict[str, list[Linear]] = {}
    for part in linears(values, width, width // heads):
        if not part.is_packed and part.axis == 1:
            for number in re.finditer(r"\d+", part.weight):  # any of the numbers in its name may count the heads
                pattern = f"{part.weight[: number.start()]}#{part.weight[number.end() :]}"
                alike.setdefault(pattern, []).append(part)
    for slot, parts in enumerate(each for each in alike.values() if len(each) == heads):
        matrix = np.concatenate([part.matrix for part in parts], axis=-1)
        offset = np.concatenate([part.offset for part in parts])
        weights = tuple(part.weight for part in parts)
        yield Linear(weights[0], parts[0].bias, _STACKED, slot, 1, matrix, offset, weights)


def biases_of(values: Values, name: str, size: int) -> list[str]:
    """Which vectors may be added to what this tensor gives; an empty string for none."""
    if is_weight(name):
        own = partner(name, values)
        return [own] if own and values[own].size == size else [""]
    loose = [vector for vector in loose_vectors(values, size) if vector != name]
    alike = [vector for vector in loose if _leaf_alike(name, vector)]
    return [*alike, ""] if alike else ["", *loose]


def offset_of(values: Values, bias: str, size: int) -> Array:
    return values[bias].reshape(-1) if bias else np.zeros(size)


def partner(name: str, names: Mapping[str, object]) -> str:
    """`attn.key.weight` → `attn.key.bias`, if there is one."""
    head, _, leaf = name.rpartition(".")
    other = f"{head}.{leaf.replace('weight', 'bias')}".lstrip(".")
    return other if "weight" in leaf and other in names else ""


def is_weight(name: str) -> bool:
    """A layer's own, as torch names it; a bare parameter may be anything."""
    return "weight" in name.rpartition(".")[2]


def loose_vectors(values: Values, size: int) -> list[str]:
    """Vectors of this size that are no part of a layer torch knows."""
    owned = {partner(name, values) for name in values}
    return [name for name, value in values.items() if value.size == size and not is_weight(name) and name not in owned]


def of_size(values: Values, *sides: int) -> list[str]:
    """Parameters of this shape, but for axes of length one, which are a matter of broadcasting."""
    return [name for name, value in values.items() if value.squeeze().shape == sides]


def _leaf_alike(one: str, other: str) -> bool:
    """w1 and b1, W_q and b_q: alike but for their first letter; gamma_1 and beta_1: alike in how they end."""
    first, second = _leaf(one), _leaf(other)
    return first[1:] == second[1:] or (bool(_ending(first)) and _ending(first) == _ending(second))


def _leaf(name: str) -> str:
    """Its own name, which in a list of parameters stands before its number."""
    return next((part for part in reversed(name.split(".")) if not part.isdigit()), name)


def _ending(leaf: str) -> str:
    found = re.search(r"_[a-z0-9]+$|[0-9]+$", leaf, re.IGNORECASE)
    return found.group() if found else ""


def matrix_sides(values: Values) -> set[int]:
    return {side for value in values.values() if value.squeeze().ndim == 2 for side in value.squeeze().shape}


def mlps(values: Values, width: int, hidden: int | None = None) -> list[Mlp]:
    """Maps to a hidden layer and back, of this width or of any but the block's own."""
    found: list[Mlp] = []
    for size in [hidden] if hidden else sorted(matrix_sides(values) - {width}):
        both = product(linears(values, width, size), linears(values, size, width))
        found += [Mlp(widen, narrow) for widen, narrow in both if not (widen.is_packed or narrow.is_packed)]
    return [mlp for mlp in found if len(mlp.weights) == 2]


def norms(values: Values, width: int, gains: Sequence[str] = ()) -> list[Norm]:
    """LayerNorms as torch keeps them, with a shift or without, and pairs of loose vectors with one of `gains` first."""
    own = [(name, partner(name, values)) for name in of_size(values, width) if is_weight(name)]
    loose = loose_vectors(values, width)
    pairs = [(gain, shift) for gain in gains for shift in loose if shift not in gains]
    alike = [pair for pair in pairs if _leaf_alike(*pair)]
    known = [*(pair for pair in own if pair[1]), *(pair for pair in own if not pair[1])]
    return [Norm.of(values, *pair) for pair in known + (alike if {gain for gain, _ in alike} == set(gains) else pairs)]


def count_apart(layers: Iterable[Linear]) -> int:
    """How many of them can be used at once. Layers for each head may be stacked in several ways, and used in one."""
    shares: dict[tuple[str, int], Fraction] = {}
    for layer in layers:
        slot = 0 if layer.parts else layer.slot
        parts = layer.parts or (layer.weight,)
        shares |= {(part, slot): Fraction(1, len(parts)) for part in parts}
    return int(sum(shares.values()))
