"""A ViT's way in: class token, positions and patch projection among its tensors, and the tokens they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product

import numpy as np

from grader import Array
from grader.modules import Workbench
from rubrics.module_recovery.layers import Norm, Values, is_weight, loose_vectors, normalised, norms, partner

from ...public.image_bench import PatchSizes, Sizes
from ...public.position_pieces import kept_as, near, position_tensors, table

_MOST_WAYS_IN = 48  # usual models have four
_NO_NORM = ("", "")


@dataclass(frozen=True)
class WayIn:
    """Which tensors make the tokens. LayerNorms are named by gain and shift, those that are not there by nothing."""

    class_token: str  # empty if it has no tensor of its own, and is a row of the positions
    positions: str
    weight: str
    bias: str
    place: int  # of the class token among the tokens, 0 or −1
    sign: int = 1  # of the positions, which may as well be subtracted
    norm_before: tuple[str, str] = _NO_NORM  # the projection of the patches
    norm_behind: tuple[str, str] = _NO_NORM  # it
    norm_of_all: tuple[str, str] = _NO_NORM  # behind the positions

    @property
    def names(self) -> set[str]:
        """Every tensor that is no part of the encoder."""
        norms = (*self.norm_before, *self.norm_behind, *self.norm_of_all)
        return {self.class_token, self.positions, self.weight, self.bias, *norms}

    def with_tokens(self, values: Values, tokens: Array) -> dict[str, Array]:
        """Parameters for which every image becomes these tokens (N + 1, D), the class token at its place."""
        silent = (self.weight, self.bias, self.class_token, self.norm_behind[1])
        changed = {name: np.zeros_like(values[name]) for name in silent if name}
        rows = values[self.positions]
        if rows.size == tokens.size:
            return {**changed, self.positions: kept_as(rows, self.sign * tokens)}
        own = range(len(tokens))[self.place]
        changed[self.class_token] = tokens[own].reshape(values[self.class_token].shape)
        return {**changed, self.positions: kept_as(rows, self.sign * np.delete(tokens, own, axis=0))}

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

    def with_shift(self, values: Values, tokens: Array, step: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """`step` as the shift of the LayerNorm behind the projection, and added to the patches: the same."""
        moved = tokens + step
        moved[self.place] -= step
        shift = self.norm_behind[1]
        before = self.with_tokens(values, tokens)
        return {**before, shift: step.reshape(values[shift].shape)}, self.with_tokens(values, moved)

    def given(self, values: Values, tokens: Array) -> Array:
        """What the encoder is given of tokens (…, D)."""
        return _norm(values, self.norm_of_all)(tokens)

    def tokens(self, values: Values, embedded: Array) -> Array:
        """(B, N, D) → (B, N + 1, D): the class token put in its place, positions added."""
        dim = embedded.shape[-1]
        class_token = values[self.class_token].reshape(1, 1, -1) if self.class_token else np.zeros((1, 1, dim))
        class_token = class_token.repeat(len(embedded), axis=0)
        rows = self.sign * table(values[self.positions], dim)
        if len(rows) == embedded.shape[1]:
            embedded, rows = embedded + rows, np.zeros(1)
        parts = [class_token, embedded] if self.place == 0 else [embedded, class_token]
        return self.given(values, np.concatenate(parts, axis=1) + rows)

    def embeddings(self, values: Values, sizes: PatchSizes, images: Array) -> Iterator[Array]:
        """(B, N, D) for each order in which a patch's pixels, and the patches, may be laid out."""
        weight = values[self.weight]
        own = is_weight(self.weight) and sizes.dim != weight.shape[-1]
        weight = weight if own or weight.shape[0] == sizes.dim else np.moveaxis(weight, -1, 0)
        matrix = weight.reshape(sizes.dim, -1).T
        offset = values[self.bias].reshape(-1) if self.bias else 0.0
        before, behind = _norm(values, self.norm_before), _norm(values, self.norm_behind)
        # Positions are learned, so the order of the patches is nobody's concern here.
        for flat in (*sizes.cut(images), *sizes.cut(images, by_column=True)):
            yield behind(before(flat) @ matrix + offset)


def _norm(values: Values, names: tuple[str, str]) -> Callable[[Array], Array]:
    if names == _NO_NORM:
        return np.asarray
    return partial(Norm.of(values, *names), how=normalised)


def class_tokens(values: Values, sizes: Sizes) -> list[str]:
    """Vectors that belong to no layer torch knows."""
    embeddings = [
        name
        for name, value in values.items()
        if value.size == sizes.dim and is_weight(name) and not partner(name, values)
    ]
    return [*loose_vectors(values, sizes.dim), *embeddings]


def ways_in(values: Values, sizes: Sizes, signs: tuple[int, ...] = (1,)) -> Iterator[WayIn]:
    weights = patch_weights(values, sizes)
    inner = next(iter(norms(values, sizes.pixels)), None) if sizes.pixels != sizes.dim else None
    before = (inner.gain, inner.shift) if inner else _NO_NORM
    for sign, token, positions, weight, place in product(
        signs, [*class_tokens(values, sizes), ""], position_tensors(values, sizes), weights, (0, -1)
    ):
        if not token and (sign < 0 or values[positions].size != (sizes.patches + 1) * sizes.dim):
            continue
        for bias in biases_of(weight, values, sizes):
            if not bias or bias != token:
                yield WayIn(token, positions, weight, bias, place, sign, before)


def patch_weights(values: Values, sizes: PatchSizes) -> list[str]:
    size = sizes.pixels * sizes.dim
    return [name for name, value in values.items() if value.size == size and sizes.dim in value.shape]


def biases_of(weight: str, values: Values, sizes: PatchSizes) -> list[str]:
    return [partner(weight, values)] if is_weight(weight) else [*loose_vectors(values, sizes.dim), ""]


def believable_ways_in(bench: Workbench, rng: np.random.Generator, sizes: Sizes) -> list[WayIn]:
    """Ways in for which the image has no influence once tokens are set, with the LayerNorms that stand in them."""
    x, tokens = sizes.images(rng, 2), rng.normal(size=(sizes.patches + 1, sizes.dim))
    white, step = np.ones_like(x), rng.normal(size=sizes.dim)
    found: list[WayIn] = []
    for way_in in islice(ways_in(bench.values, sizes, (1, -1)), _MOST_WAYS_IN):
        set_so = way_in.with_tokens(bench.values, tokens)
        longer = [way_in.with_patches(bench.values, sizes, set_so, size * step) for size in (10, 20)]
        # A row of the table is at its place wherever that is.
        placed = way_in.with_class_token(bench.values, tokens, step) if way_in.class_token else (set_so, set_so)
        larger = way_in.with_tokens(bench.values, 2 * tokens + 3)
        # Of other numbers: the mean of the tokens in another order is the same.
        different = way_in.with_tokens(bench.values, np.sin(tokens))
        rows = bench.run_changed((white,), (x,), changes=[set_so, *longer, *placed, larger, different])
        (black, drawn), (short, _), (long, _), (one, _), (other, _), (large, _), (last, _) = rows
        if len(drawn) != len(x) or not near(drawn[0], drawn[1]) or not near(one, other) or near(last, black):
            continue
        if not is_weight(way_in.weight) and not _adds_its_bias(bench, way_in, tokens, step, white, found):
            continue
        ways = [way_in]
        if near(large, black):
            # A pre-norm block without its residual would look like this, too.
            ways += _normed_behind_the_positions(bench, sizes, way_in, tokens, white)
        elif near(short, long) and not near(short, black):
            ways = list(_normed_behind_the_patches(bench, sizes, way_in, tokens, step, white))
        found += ways
    return found


def _adds_its_bias(bench: Workbench, way_in: WayIn, tokens: Array, step: Array, x: Array, found: list[WayIn]) -> bool:
    """Whether the vector thought to be the bias is added to every patch; without one, whether none was found."""
    if not way_in.bias:
        return not found
    shifted = replace(way_in, norm_behind=("", way_in.bias))
    one, other = bench.run_changed((x,), changes=shifted.with_shift(bench.values, tokens, step))
    return near(one[0], other[0])


def _normed_behind_the_patches(
    bench: Workbench, sizes: Sizes, way_in: WayIn, tokens: Array, step: Array, x: Array
) -> Iterator[WayIn]:
    """With the LayerNorm whose shift is added to every patch."""
    for norm in norms(bench.values, sizes.dim):
        if norm.shift:
            normed = replace(way_in, norm_behind=(norm.gain, norm.shift))
            one, other = bench.run_changed((x,), changes=normed.with_shift(bench.values, tokens, step))
            if near(one[0], other[0]):
                yield normed


def _normed_behind_the_positions(
    bench: Workbench, sizes: Sizes, way_in: WayIn, tokens: Array, x: Array
) -> Iterator[WayIn]:
    """With the LayerNorm that lets nothing of the tokens through if its gain is nothing."""
    for norm in norms(bench.values, sizes.dim):
        shut = {norm.gain: np.zeros_like(bench.values[norm.gain])}
        changes = [{**way_in.with_tokens(bench.values, each), **shut} for each in (tokens, np.sin(tokens))]
        one, other = bench.run_changed((x,), changes=changes)
        if near(one[0], other[0]):
            yield replace(way_in, norm_of_all=(norm.gain, norm.shift))
