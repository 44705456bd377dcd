"""Which vector goes with which matrix or gain in hand-written layers: told by module, name, size and order.

A guess is only ever a reading to try: what is read so is right if its values are, and is not called wrong for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from rubrics.module_recovery.layers import is_weight, partner

from ...public.arranged_bench import Piece, arranged
from ...public.image_bench import ImageBench, Sizes
from ...public.position_pieces import position_tensors

_MOST_NORMS_IN_ONE = 3  # those of a block, and one behind the last
_USUAL_NAMES = {("w", "b"), ("weight", "bias"), ("g", "b"), ("gamma", "beta"), ("γ", "β"), ("gain", "shift")}


@dataclass(frozen=True)
class _Pair:
    owner: str
    vector: str
    names: tuple[str, str]  # what is left of both names without what they share
    are_numbered: bool
    shared: bool  # whether their names share anything, or they are all that their module has

    @property
    def is_likely(self) -> bool:
        return self.shared or self.are_numbered or self.names in _USUAL_NAMES


def in_pairs(bench: ImageBench, sizes: Sizes, turned: bool) -> ImageBench:
    """Every layer named as torch would. Square matrices are kept (out, in), or with `turned` the other way round."""
    found = _pairs(bench, sizes)
    pieces: dict[str, Piece] = {}
    for owner, vector in found.items():
        if _is_gain(bench, sizes, owner):
            pieces |= _norms(bench, sizes, owner, vector)
        else:
            pieces[f"{owner}.weight"] = _turned(bench, owner, bench.values[vector].size, turned)
            pieces[f"{owner}.bias"] = Piece((vector,), is_flat=True)
    alike = {_parent_and_leaf(owner)[1] for owner in found}
    for name, value in bench.values.items():
        is_matrix = value.squeeze().ndim > 1 and name not in position_tensors(bench.values, sizes)
        if is_matrix and name not in found and not is_weight(name) and _parent_and_leaf(name)[1] in alike:
            pieces[f"{name}.weight"] = _turned(bench, name, 0, turned)  # a layer like the others, without a bias
    return arranged(bench, pieces) if pieces else bench


def _turned(bench: ImageBench, owner: str, made: int, turned: bool) -> Piece:
    sides = bench.values[owner].squeeze().shape
    if len(sides) != 2:
        return Piece((owner,))
    if sides[0] != sides[1] and made in sides:
        turned = made == sides[1]
    return Piece((owner,), is_turned=turned)


def _norms(bench: ImageBench, sizes: Sizes, gain: str, shift: str) -> Iterator[tuple[str, Piece]]:
    count = bench.values[gain].size // sizes.dim
    for name, source in (("weight", gain), ("bias", shift)):
        for n in range(count):
            own = f"{gain}.of{n}.{name}" if count > 1 else f"{gain}.{name}"
            yield own, Piece((source,), part=n if count > 1 else None, is_flat=True)


def _pairs(bench: ImageBench, sizes: Sizes) -> dict[str, str]:
    """For each matrix and each gain the vector that goes with it: those first whose names are most alike."""
    place = {name: n for n, name in enumerate(bench.fresh)}

    def unlike(pair: _Pair) -> tuple[bool, int, bool, int]:
        behind = place[pair.vector] - place[pair.owner]
        # What goes with a gain has its shape, so that there is less to choose from.
        return not _is_gain(bench, sizes, pair.owner), sum(map(len, pair.names)), behind < 0, abs(behind)

    found: dict[str, str] = {}
    for pair in sorted(_possible(bench, sizes), key=unlike):
        if pair.is_likely and not {pair.owner, pair.vector} & {*found, *found.values()}:
            found[pair.owner] = pair.vector
    return found


def _possible(bench: ImageBench, sizes: Sizes) -> Iterator[_Pair]:
    known = {name for owner in bench.values if (own := partner(owner, bench.values)) for name in (owner, own)}
    known |= set(position_tensors(bench.values, sizes))
    modules: dict[str, list[str]] = {}
    for name in bench.values:
        modules.setdefault(_parent_and_leaf(name)[0], []).append(name)
    for members in modules.values():
        left = [name for name in members if name not in known]
        for owner in left:
            for vector in left:
                if _go_together(bench, sizes, owner, vector):
                    yield _pair(owner, vector, alone=len(members) == 2)


def _pair(owner: str, vector: str, alone: bool) -> _Pair:
    one, other = (_parent_and_leaf(name)[1] for name in (owner, vector))
    start = len(list(takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False))))
    one, other = one[start:], other[start:]
    end = len(list(takewhile(lambda both: both[0] == both[1], zip(one[::-1], other[::-1], strict=False))))
    names = (one[: len(one) - end].lower(), other[: len(other) - end].lower())
    return _Pair(owner, vector, names, all(name.isdigit() for name in names), alone or start + end > 0)


def _go_together(bench: ImageBench, sizes: Sizes, owner: str, vector: str) -> bool:
    matrix, added = bench.values[owner].squeeze(), bench.values[vector].squeeze()
    if owner == vector or _is_gain(bench, sizes, vector):
        return False
    if _is_gain(bench, sizes, owner):
        return matrix.shape == added.shape
    if matrix.ndim < 2 or added.ndim >= matrix.ndim or (added.ndim > 1 and sizes.dim in added.shape):
        return False
    return added.size in {*matrix.shape, matrix.size // sizes.dim}


def _is_gain(bench: ImageBench, sizes: Sizes, name: str) -> bool:
    """Whether it starts as ones; those of several LayerNorms may be in one tensor."""
    sides = bench.values[name].squeeze().shape
    several = len(sides) == 2 and sides[0] <= _MOST_NORMS_IN_ONE and sides[1] == sizes.dim
    return (sides == (sizes.dim,) or several) and bool(np.all(bench.fresh[name] == 1))


def _parent_and_leaf(name: str) -> tuple[str, str]:
    parent, _, leaf = name.rpartition(".")
    return parent, leaf
