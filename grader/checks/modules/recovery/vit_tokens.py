"""A ViT's way in: class token, positions and patch projection among its tensors, and the tokens they make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import permutations, product

import numpy as np

from grader.checks.modules.recovery.layers import Values, is_weight, loose_vectors, partner
from grader.checks.modules.recovery.workbench import Workbench
from grader.compare import Array

_MOST_WAYS_IN = 24  # usual models have one or two


@dataclass(frozen=True)
class PatchSizes:
    image: int
    patch: int
    channels: int
    dim: int

    @property
    def side(self) -> int:
        return self.image // self.patch

    @property
    def patches(self) -> int:
        return self.side**2

    def images(self, rng: np.random.Generator, batch: int) -> Array:
        return rng.normal(size=(batch, self.channels, self.image, self.image))

    def arguments(self) -> list[int]:
        return list(astuple(self))


@dataclass(frozen=True)
class Sizes(PatchSizes):
    depth: int
    heads: int
    classes: int


@dataclass(frozen=True)
class WayIn:
    """Which tensors make the tokens."""

    class_token: str  # empty if it has no tensor of its own, and is a row of the positions
    positions: str
    weight: str
    bias: str
    place: int  # of the class token among the tokens, 0 or −1

    def with_tokens(self, values: Values, tokens: Array) -> dict[str, Array]:
        """Parameters for which every image becomes these tokens (N + 1, D), the class token at its place."""
        changed = {name: np.zeros_like(values[name]) for name in (self.weight, self.bias, self.class_token) if name}
        rows = values[self.positions]
        if rows.size == tokens.size:
            return {**changed, self.positions: kept_as(rows, tokens)}
        own = range(len(tokens))[self.place]
        changed[self.class_token] = tokens[own].reshape(values[self.class_token].shape)
        return {**changed, self.positions: kept_as(rows, np.delete(tokens, own, axis=0))}

    def with_class_token(self, values: Values, tokens: Array, step: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """`step` added to the class token, and to the token at its place: the same, if that is its place."""
        moved = tokens.copy()
        moved[self.place] += step
        before = self.with_tokens(values, tokens)
        token = before[self.class_token]
        return {**before, self.class_token: token + step.reshape(token.shape)}, self.with_tokens(values, moved)

    def with_patches(self, values: Values, sizes: Sizes, others: dict[str, Array], step: Array) -> dict[str, Array]:
        """With these parameters, and `step` as the embedding of any patch of a white image."""
        weight = values[self.weight]
        own = next(axis for axis, side in enumerate(weight.shape) if side == sizes.dim)
        sides = [1] * weight.ndim
        sides[own] = sizes.dim
        each = step.reshape(sides) / (weight.size // sizes.dim)
        return {**others, self.weight: np.broadcast_to(each, weight.shape)}

    def tokens(self, values: Values, embedded: Array) -> Array:
        """(B, N, D) → (B, N + 1, D): the class token put in its place, positions added."""
        dim = embedded.shape[-1]
        class_token = values[self.class_token].reshape(1, 1, -1) if self.class_token else np.zeros((1, 1, dim))
        class_token = class_token.repeat(len(embedded), axis=0)
        rows = table(values[self.positions], dim)
        if len(rows) == embedded.shape[1]:
            embedded, rows = embedded + rows, np.zeros(1)
        parts = [class_token, embedded] if self.place == 0 else [embedded, class_token]
        return np.asarray(np.concatenate(parts, axis=1) + rows)

    def embeddings(self, values: Values, sizes: Sizes, images: Array) -> Iterator[Array]:
        """(B, N, D) for each order in which a patch's pixels, and the patches, may be laid out."""
        s, p = sizes.side, sizes.patch
        grid = images.reshape(len(images), sizes.channels, s, p, s, p)  # (B, C, row, P, column, P)
        weight = values[self.weight]
        weight = weight if is_weight(self.weight) or weight.shape[0] == sizes.dim else np.moveaxis(weight, -1, 0)
        matrix = weight.reshape(sizes.dim, -1).T
        offset = values[self.bias].reshape(-1) if self.bias else 0.0
        # Positions are learned, so the order of the patches is nobody's concern here.
        for inner, outer in product(permutations((1, 3, 5)), ((2, 4), (4, 2))):
            flat = grid.transpose(0, *outer, *inner).reshape(len(images), s * s, -1)
            yield flat @ matrix + offset


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


def position_tensors(values: Values, sizes: Sizes) -> list[str]:
    """Parameters with a row for each patch, and perhaps one for the class token."""
    every = [(sizes.patches + 1,), (sizes.patches,), (sizes.side, sizes.side)]
    shapes = [shape for rows in every for shape in ((*rows, sizes.dim), (sizes.dim, *rows))]
    return [name for shape in shapes for name, value in values.items() if value.squeeze().shape == shape]


def class_tokens(values: Values, sizes: Sizes) -> list[str]:
    """Vectors that belong to no layer torch knows."""
    embeddings = [
        name
        for name, value in values.items()
        if value.size == sizes.dim and is_weight(name) and not partner(name, values)
    ]
    return [*loose_vectors(values, sizes.dim), *embeddings]


def ways_in(values: Values, sizes: Sizes) -> Iterator[WayIn]:
    count = sizes.channels * sizes.patch**2
    weights = [name for name, value in values.items() if value.size == count * sizes.dim and sizes.dim in value.shape]
    for token, positions, weight, place in product(
        [*class_tokens(values, sizes), ""], position_tensors(values, sizes), weights, (0, -1)
    ):
        if not token and values[positions].size != (sizes.patches + 1) * sizes.dim:
            continue
        biases = [partner(weight, values)] if is_weight(weight) else [*loose_vectors(values, sizes.dim), ""]
        yield from (WayIn(token, positions, weight, bias, place) for bias in biases if not bias or bias != token)


def believable_ways_in(bench: Workbench, rng: np.random.Generator, sizes: Sizes) -> list[WayIn]:
    """Ways in for which the image has no influence once tokens are set, and no LayerNorm stands behind the patches."""
    x, tokens = sizes.images(rng, 2), rng.normal(size=(sizes.patches + 1, sizes.dim))
    white, step = np.ones_like(x), rng.normal(size=sizes.dim)
    found = []
    for way_in in list(ways_in(bench.values, sizes))[:_MOST_WAYS_IN]:
        set_so = way_in.with_tokens(bench.values, tokens)
        longer = [way_in.with_patches(bench.values, sizes, set_so, size * step) for size in (10, 20)]
        # A row of the table is at its place wherever that is.
        placed = way_in.with_class_token(bench.values, tokens, step) if way_in.class_token else (set_so, set_so)
        rows = bench.run_changed((white,), (x,), changes=[set_so, *longer, *placed])
        (black, drawn), (short, _), (long, _), (one, _), (other, _) = rows
        normed = near(short, long) and not near(short, black)
        if len(drawn) == len(x) and near(drawn[0], drawn[1]) and near(one, other) and not normed:
            found.append(way_in)
    return found


def near(one: Array, other: Array) -> bool:
    return np.allclose(one, other, rtol=0, atol=1e-4)
