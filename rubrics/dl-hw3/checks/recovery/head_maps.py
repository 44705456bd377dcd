"""Maps into heads of any width and back: in one tensor or in several, packed or not, for all heads or for each.

Heads are usually dim/heads wide. Much public code has them wider; what is learned is then the same, in other shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from grader import Array
from rubrics.module_recovery.layers import Linear, Values, biases_of, in_order, layouts, offset_of, with_first_axis

STACKED = "stacked"
ADDED, AVERAGED = "added", "averaged"  # heads that are not joined
_PACKED = (1, 2, 3)  # one of queries, keys and values, two, or all three


def into_heads(values: Values, width: int, heads: int, names: Iterable[str], any_width: bool = True) -> list[Linear]:
    """Every map from `width` features to the joined heads, ordered by head; heads of the usual width first or alone."""
    names = sorted(names)
    found = [layer for name in names for layer in _of_one_tensor(values, name, width, heads)]
    if heads > 1:
        # One part in use will do: where a head's softmax saturates, its other layers may seem to have no influence.
        found += [layer for layer in _of_each_head(values, width, heads) if layer.weights & set(names)]
    usual = [layer for layer in found if layer.matrix.shape[1] == width]
    return [*usual, *(layer for layer in found if any_width and layer.matrix.shape[1] != width)]


def out_of_heads(values: Values, width: int, heads: int, names: Iterable[str], any_width: bool = True) -> list[Linear]:
    """Every map from the joined heads, whose features are ordered by head, back to `width` features."""
    names = sorted(names)
    found: list[Linear] = []
    for name in names:
        for axis, turned in with_first_axis(values, name, width, first_is_output=True):  # (D, joined)
            joined = turned.shape[1]
            if any_width and heads > 1:
                found += _of_heads_in_one(values, name, axis, turned.T, heads)
            if joined % heads:
                continue
            for bias in biases_of(values, name, width):
                offset, by_head = offset_of(values, bias, width), turned.T
                by_turns = by_head.reshape(joined // heads, heads, width).swapaxes(0, 1).reshape(joined, width)
                found.append(Linear(name, bias, ("head", "feature"), 0, axis, by_head, offset))
                if 1 < heads < joined:
                    found.append(Linear(name, bias, ("feature", "head"), 0, axis, by_turns, offset))
    if heads > 1:
        found += [layer for layer in _summed(values, width, heads) if layer.weights & set(names)]
    return [layer for layer in found if any_width or layer.matrix.shape[0] == width]


def _of_one_tensor(values: Values, name: str, width: int, heads: int) -> Iterator[Linear]:
    for axis, matrix in with_first_axis(values, name, width):  # (D, all that is made of it)
        made = matrix.shape[1]
        with_biases = [
            (bias, np.concatenate([matrix, offset_of(values, bias, made)[None]]))
            for bias in biases_of(values, name, made)
        ]
        for packed in _PACKED:
            joined = made // packed
            if made % (packed * heads):
                continue
            axes = {"part": packed, "head": heads, "feature": joined // heads}
            for (bias, both), layout in product(with_biases, layouts(axes)):
                parts = in_order(both.reshape(-1, *(axes[each] for each in layout)), layout, packed, joined)
                kept = layout if packed > 1 else tuple(each for each in layout if each != "part")
                for slot, part in enumerate(parts):
                    yield Linear(name, bias, kept, slot, axis, part[:-1], part[-1])


def _of_each_head(values: Values, width: int, heads: int) -> Iterator[Linear]:
    """One map made of a layer for each head, side by side; each layer may hold queries, keys and values of its head."""
    for slot, names in enumerate(_numbered(values, heads)):
        readings = [list(with_first_axis(values, name, width)) for name in names]
        for way in range(min(map(len, readings))):
            matrices = [reading[way][1] for reading in readings]
            yield from _side_by_side(values, names, readings[0][way][0], matrices, slot)


def _side_by_side(
    values: Values, names: tuple[str, ...], axis: int, matrices: Sequence[Array], slot: int
) -> Iterator[Linear]:
    made = matrices[0].shape[1]
    own = [biases_of(values, name, made)[0] for name in names]
    both = np.stack([np.vstack([m, offset_of(values, b, made)]) for m, b in zip(matrices, own, strict=True)])
    for packed in _PACKED:
        if made % packed:
            continue
        axes = {"part": packed, "feature": made // packed}
        for layout in layouts(axes):
            shaped = both.reshape(len(names), -1, *(axes[each] for each in layout))  # (H, D + 1, …)
            parts = shaped.transpose(2 + layout.index("part"), 1, 0, 2 + layout.index("feature"))
            for number, part in enumerate(parts.reshape(packed, parts.shape[1], -1)):
                kept = (STACKED,) if packed == 1 else (STACKED, *layout)
                place = slot if packed == 1 else number
                yield Linear(names[0], own[0], kept, place, axis, part[:-1], part[-1], names)


def _of_heads_in_one(values: Values, name: str, axis: int, matrix: Array, heads: int) -> Iterator[Linear]:
    """A map from one head's width, which all heads go through: they are added or averaged before it, or behind it."""
    width = matrix.shape[1]
    for bias in biases_of(values, name, width):
        offset, each = offset_of(values, bias, width), np.tile(matrix, (heads, 1))
        yield Linear(name, bias, (ADDED,), 0, axis, each, offset)
        yield Linear(name, bias, (AVERAGED,), 0, axis, each / heads, offset)


def _summed(values: Values, width: int, heads: int) -> Iterator[Linear]:
    """One map made of a layer for each head, whose outputs are added."""
    for slot, names in enumerate(_numbered(values, heads)):
        readings = [list(with_first_axis(values, name, width, first_is_output=True)) for name in names]
        for way in range(min(map(len, readings))):
            matrices = [reading[way][1].T for reading in readings]
            own = [biases_of(values, name, width)[0] for name in names]
            offset = np.sum([offset_of(values, bias, width) for bias in own], axis=0)
            yield Linear(
                names[0], own[0], (STACKED,), slot, readings[0][way][0], np.concatenate(matrices), offset, names
            )


def _numbered(values: Values, heads: int) -> Iterator[tuple[str, ...]]:
    """Tensors, one for each head, that are called alike but for a number; in lists of several for each head, too."""
    alike: dict[tuple[str, tuple[int, ...]], list[tuple[int, str]]] = {}
    for name, value in values.items():
        if value.squeeze().ndim < 2:
            continue
        for number in re.finditer(r"\d+", name):  # any of the numbers in its name may count the heads
            pattern = f"{name[: number.start()]}#{name[number.end() :]}"
            alike.setdefault((pattern, value.squeeze().shape), []).append((int(number.group()), name))
    for members in alike.values():
        names = [name for _, name in sorted(members)]
        each = len(names) // heads
        if len(names) != each * heads or not 1 <= each <= 4:  # queries, keys, values and output
            continue
        yield from (tuple(names[start::each]) for start in range(each))
        if each > 1:
            yield from (tuple(names[start : start + heads]) for start in range(0, len(names), heads))
