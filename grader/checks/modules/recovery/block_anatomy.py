"""Which of a module's tensors may be what in an encoder block, by shape and by when they have influence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product

import numpy as np

from grader.checks.modules.recovery.block_equations import PLAIN
from grader.checks.modules.recovery.layers import (
    Linear,
    Norm,
    Stacked,
    Values,
    is_weight,
    leaf_alike,
    linears,
    maps,
    norms,
    partner,
)
from grader.checks.modules.recovery.projections import Projection, inward, loose_vectors, outward

Pair = tuple[Linear, Linear]
_MOST_READINGS = 2000  # of one way to put a block together; each takes about 0.1 ms


@dataclass(frozen=True)
class Anatomy:
    """Candidates for each part of one block."""

    values: Values
    width: int
    heads: int
    alone: frozenset[str]  # tensors that matter to a single token, so not the queries' and keys' own
    used: frozenset[str]
    pairs: tuple[Pair, ...]
    norms: tuple[Norm, ...]

    def single(self) -> Iterator[tuple[Projection | None, Projection | None]]:
        """Values and output projection; without the latter if there is none in use, without either at last."""
        outer = outward(self.biases_apart, self.matrices(self.alone), self.width, self.heads)
        inner = inward(self.biases_apart, self.matrices(self.alone), self.width, self.heads)
        for value, output in product(inner, outer):
            if value.goes_with(output):
                yield value, output
        yield from ((value, None) for value in inner)
        yield None, None

    def asking(self, value: Projection, output: Projection | None) -> Iterator[tuple[Projection, Projection]]:
        """Queries and keys, each a layer of its own."""
        others = [
            found for found in self.inward if found.goes_with(value) and (output is None or found.goes_with(output))
        ]
        yield from ((q, k) for q, k in permutations(others, 2) if q.goes_with(k) and _one_order(q, k, value))

    def shared(self, value: Projection) -> Iterator[tuple[str, Projection, Projection]]:
        """Queries and keys when one layer has two roles, and which."""
        every = [found for found in self.inward if found.layout == value.layout or found.weight != value.weight]
        yield from (("queries and keys", other, other) for other in every if other.goes_with(value))
        yield from (("keys and values", other, value) for other in every if other.goes_with(value))
        yield from (("queries and values", value, other) for other in every if other.goes_with(value))
        yield "queries, keys and values", value, value

    @cached_property
    def inward(self) -> list[Projection]:
        return inward(self.biases_apart, self.matrices(self.used), self.width, self.heads)

    @cached_property
    def outward(self) -> list[Projection]:
        return outward(self.biases_apart, self.matrices(self.used), self.width, self.heads)

    @cached_property
    def biases_apart(self) -> Values:
        """Without what is a LayerNorm's, which a bare matrix might be thought to add."""
        taken = {name for norm in self.norms for name in (norm.gain, norm.shift)}
        return {name: value for name, value in self.values.items() if name not in taken}

    def matrices(self, names: Iterable[str]) -> list[str]:
        taken = {layer.weight for pair in self.pairs for layer in pair}
        return [name for name in names if self.values[name].squeeze().ndim > 1 and name not in taken]

    def norm_pairs(self) -> list[tuple[Norm, Norm]]:
        if len(self.norms) > 1:
            return list(permutations(self.norms, 2))
        one = self.norms[0] if self.norms else PLAIN
        return [(one, one), (one, PLAIN), (PLAIN, one)] if self.norms else [(PLAIN, PLAIN)]

    def unread(self, apart_from_the_head: bool = False) -> bool:
        """Whether some matrix in use is no candidate for anything: then no reading can be complete."""
        stacks = (layer for layer in maps(self.values, self.width, self.heads) if isinstance(layer, Stacked))
        known = {found.weight for found in (*self.inward, *self.outward)}
        known |= {part.weight for stack in stacks for part in stack.parts}
        return not self.pairs or self.is_too_much or len(set(self.matrices(self.used)) - known) > apart_from_the_head

    @cached_property
    def is_too_much(self) -> bool:
        """Whether so much could be what that trying it all would take too long."""
        return len(list(self.single())) * len(self.norm_pairs()) * len(self.pairs) > _MOST_READINGS


def _one_order(q: Projection, k: Projection, v: Projection) -> bool:
    """Queries and keys share an order of heads. That of the values may differ: the output projection undoes it."""
    if q.weight == k.weight:
        return True
    return q.layout[-2:] == k.layout[-2:] or "part" in (*q.layout, *k.layout) or v.weight in (q.weight, k.weight)


def feed_forward_pairs(values: Values, width: int, hidden: int | None = None) -> tuple[Pair, ...]:
    """Maps to a hidden layer and back, of this width or of any but the block's own."""
    sides = {side for value in values.values() if value.squeeze().ndim == 2 for side in value.squeeze().shape}
    found: list[Pair] = []
    for size in [hidden] if hidden else sorted(sides - {width}):
        both = product(linears(values, width, size), linears(values, size, width))
        found += [(widen, narrow) for widen, narrow in both if widen.rows is narrow.rows is None]
    return tuple((widen, narrow) for widen, narrow in found if widen.weight != narrow.weight)


def norm_candidates(values: Values, width: int, gains: Iterable[str] = ()) -> tuple[Norm, ...]:
    """LayerNorms as torch keeps them, and pairs of loose vectors with one of `gains` first."""
    known = norms(values, width)
    alone = [
        Norm(name, "")
        for name, value in values.items()
        if value.squeeze().shape == (width,) and is_weight(name) and not partner(name, values)
    ]
    loose = loose_vectors(values, width)
    pairs = [Norm(gain, shift) for gain in gains for shift in loose if shift not in gains]
    alike = [norm for norm in pairs if leaf_alike(norm.gain, norm.shift)]
    return tuple(known + alone + (alike if len(alike) == len(set(gains)) else pairs))


def constant_over_tokens(output: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    return bool(np.ptp(output, axis=(0, 1)).max() < 1e-6)
