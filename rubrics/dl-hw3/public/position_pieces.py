"""Positions that are kept in another way than as a table of their own: in a list, features first, with the class token.

And whether there are learned positions at all, whatever tensor they are in: without that, patches may change places.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product

import numpy as np

from grader import Array
from grader.modules import Workbench

from .arranged_bench import Piece, arranged
from .image_bench import ImageBench, Sizes

_ALIKE = 1e-3  # how far two changes that do the same may differ, as a share of what each does


def position_tensors(values: Mapping[str, Array], sizes: Sizes) -> list[str]:
    """Parameters with a row for each patch, and perhaps one for the class token."""
    every = [(sizes.patches + 1,), (sizes.patches,), (sizes.side, sizes.side)]
    shapes = [shape for rows in every for shape in ((*rows, sizes.dim), (sizes.dim, *rows))]
    return [name for shape in shapes for name, value in values.items() if value.squeeze().shape == shape]


def table(positions: Array, dim: int) -> Array:
    """(rows, D), also if they are kept the other way round, or as a grid like the patches."""
    kept = positions.squeeze()
    return np.asarray(np.moveaxis(kept, kept.shape.index(dim), -1).reshape(-1, dim))


def kept_as(positions: Array, rows: Array) -> Array:
    """A table (rows, D) in the layout of these positions."""
    kept = positions.squeeze()
    axis = kept.shape.index(rows.shape[1])
    grid = rows.reshape(*(side for n, side in enumerate(kept.shape) if n != axis), rows.shape[1])
    return np.asarray(np.moveaxis(grid, -1, axis).reshape(positions.shape))


def near(one: Array, other: Array) -> bool:
    return np.allclose(one, other, rtol=0, atol=1e-4)


def positions_as_a_table(bench: ImageBench, rng: np.random.Generator, sizes: Sizes) -> ImageBench:
    """As it is if there is such a table, or none can be made."""
    if position_tensors(bench.values, sizes):
        return bench
    return _listed(bench, sizes) or _features_first(bench, rng, sizes) or _with_the_class_token(bench, rng, sizes)


def _numbered(bench: Workbench) -> dict[str, list[str]]:
    """Tensors called alike but for a number at the end, in the order of their numbers."""
    lists: dict[str, list[tuple[int, str]]] = {}
    for name in bench.values:
        if number := re.search(r"\d+$", name):
            lists.setdefault(name[: number.start()], []).append((int(number.group()), name))
    return {start: [name for _, name in sorted(members)] for start, members in lists.items()}


def _listed(bench: ImageBench, sizes: Sizes) -> ImageBench | None:
    """A vector for each patch, and perhaps one for the class token."""
    pieces = {
        f"{start}rows": Piece(tuple(rows))
        for start, rows in _numbered(bench).items()
        if len(rows) in (sizes.patches, sizes.patches + 1) and all(bench.values[row].size == sizes.dim for row in rows)
    }
    return arranged(bench, pieces) if len(pieces) == 1 else None


def _features_first(bench: ImageBench, rng: np.random.Generator, sizes: Sizes) -> ImageBench | None:
    """A table with a column for each token that is longer than it has to be."""
    tables = [
        name
        for name, value in bench.values.items()
        if value.squeeze().ndim == 2
        and value.squeeze().shape[0] == sizes.dim
        and "weight" not in name.rpartition(".")[2]  # which torch's own layers have
    ]
    if not tables:
        return None
    images = sizes.images(rng, 2)
    (output,) = bench.run((images,)).outputs
    gradients = bench.run((images,), cotangents=[rng.normal(size=output.shape)]).gradients
    for name in tables:
        if (gradient := gradients.get(name)) is not None:
            used = np.abs(gradient.squeeze()).max(axis=0) > 0
            count = int(used.sum())
            if count in (sizes.patches, sizes.patches + 1) and count < len(used) and used[:count].all():
                return arranged(bench, {f"{name}.turned": Piece((name,), slice(0, count), is_turned=True)})
    return None


def _with_the_class_token(bench: ImageBench, rng: np.random.Generator, sizes: Sizes) -> ImageBench:
    """A table with one more row: the class token, first or last, which does what its position does."""
    tables = [name for name, value in bench.values.items() if value.squeeze().shape == (sizes.patches + 2, sizes.dim)]
    # Several images, because in some the softmax may leave nothing for the class token.
    x, step = sizes.images(rng, 8), rng.normal(size=sizes.dim)
    for name, (token, rest), place in product(tables, ((0, slice(1, None)), (-1, slice(0, -1))), (0, -1)):
        pieces = {f"{name}.token": Piece((name,), token, is_flat=True), f"{name}.rows": Piece((name,), rest)}
        apart = arranged(bench, pieces)
        own, rows = (apart.values[piece] for piece in pieces)
        moved = rows.copy()
        moved[place] += step
        changes = [{}, {f"{name}.token": own + step}, {f"{name}.rows": moved}]
        (plain,), (one,), (other,) = apart.run_changed((x,), changes=changes)
        if np.abs(one - other).max() < _ALIKE * np.abs(one - plain).max():
            return apart
    return bench


def learned_places(bench: Workbench, one: Array, swapped: Array) -> list[str] | None:
    """Tensors without which an image and the same with two patches swapped give the same, while others do not.

    None if they give the same anyway: patches have no places.
    """
    groups = [[name] for name in bench.values] + [names for names in _numbered(bench).values() if len(names) > 1]
    changes = [{name: np.zeros_like(bench.values[name]) for name in names} for names in groups]
    runs = bench.run_changed((one,), (swapped,), (one[..., ::-1] + 1,), changes=[{}, *changes])
    if near(*runs[0][:2]):
        return None
    for names, (before, after, other) in zip(groups, runs[1:], strict=True):
        if near(before, after) and not near(before, other):
            return names
    return []
