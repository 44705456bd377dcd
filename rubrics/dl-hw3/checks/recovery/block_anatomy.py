"""Which of a module's tensors may be what in an encoder block, by shape and by when they have influence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product

from rubrics.module_recovery.fits import assignments, may_ask, misfits
from rubrics.module_recovery.layers import PLAIN_NORM, Linear, Mlp, Norm, Values

from .head_maps import into_heads, out_of_heads

_MOST_FITS = 2000  # of one way to put a block together; each takes about 0.1 ms


@dataclass(frozen=True)
class Anatomy:
    """Candidates for each part of one block."""

    values: Values
    width: int
    heads: int
    alone: frozenset[str]  # tensors that matter to a single token, so not the queries' and keys' own
    used: frozenset[str]
    mlps: tuple[Mlp, ...]
    norms: tuple[Norm, ...]
    is_all: bool = False  # whether nothing but this block is in use, so that a fit has to use every matrix

    def single(self) -> Iterator[tuple[Linear | None, Linear | None]]:
        """Values and output projection; without the latter if there is none in use, without either at last."""
        yield from self._single

    @cached_property
    def _single(self) -> list[tuple[Linear | None, Linear | None]]:
        inner, outer = self._inward(self.alone), self._outward(self.alone)
        pairs = [
            (value, output)
            for value, output in product(inner, outer)
            if value.matrix.shape[1] == output.matrix.shape[0] and value.goes_with(output)
        ]
        every: list[tuple[Linear | None, Linear | None]] = [*sorted(pairs, key=_misfits_behind)]
        every += [(value, None) for value in inner if value.matrix.shape[1] == self.width]
        every.append((None, None))
        return [pair for pair in every if not self.is_all or not self._apart_from(self.alone, *pair)]

    def _apart_from(self, names: Iterable[str], *layers: Linear | None) -> set[str]:
        return set(self.matrices(names)).difference(*(layer.weights for layer in layers if layer))

    def asking(self, value: Linear, output: Linear | None) -> Iterator[tuple[Linear, Linear]]:
        """Queries and keys, each a layer of its own."""
        others = [
            found for found in self.inward if found.goes_with(value) and (output is None or found.goes_with(output))
        ]
        if not self.is_all:
            yield from ((chosen["query"], chosen["key"]) for chosen in assignments({"query": others, "key": others}))
            return
        left = self._apart_from(self.used, value, output)
        others = [found for found in others if 2 * len(found.weights) >= len(left)]
        pairs = [
            (query, key)
            for query, key in product(others, others)
            if query.matrix.shape == key.matrix.shape
            and left <= query.weights | key.weights
            and self._are_whole(value, query, key)
            and may_ask(query, key)
        ]
        yield from sorted(pairs, key=_misfits_asking)

    def _are_whole(self, *layers: Linear) -> bool:
        """Whether these use every number of the tensors that they are parts of."""
        tensors = set().union(*(layer.weights for layer in layers))
        return sum(self.values[name].size for name in tensors) == sum(layer.matrix.size for layer in layers)

    def shared(self, value: Linear) -> Iterator[tuple[str, Linear, Linear]]:
        """Queries and keys when one layer has two roles, and which."""
        every = [found for found in self.inward if found.layout == value.layout or found.weight != value.weight]
        alike = [found for found in every if found.matrix.shape == value.matrix.shape]
        yield from (("queries and keys", other, other) for other in every if other.goes_with(value))
        yield from (("keys and values", other, value) for other in alike if other.goes_with(value))
        yield from (("queries and values", value, other) for other in alike if other.goes_with(value))
        yield "queries, keys and values", value, value

    @cached_property
    def inward(self) -> list[Linear]:
        return self._inward(self.used)

    @cached_property
    def outward(self) -> list[Linear]:
        return self._outward(self.used)

    def _inward(self, names: Iterable[str]) -> list[Linear]:
        return into_heads(self.biases_apart, self.width, self.heads, self.matrices(names), any_width=self.is_all)

    def _outward(self, names: Iterable[str]) -> list[Linear]:
        return out_of_heads(self.biases_apart, self.width, self.heads, self.matrices(names), any_width=self.is_all)

    @cached_property
    def biases_apart(self) -> Values:
        """Without what is a LayerNorm's, which a bare matrix might be thought to add."""
        taken = {name for norm in self.norms for name in (norm.gain, norm.shift)}
        return {name: value for name, value in self.values.items() if name not in taken}

    def matrices(self, names: Iterable[str]) -> list[str]:
        taken = {weight for mlp in self.mlps for weight in mlp.weights}
        return [name for name in names if self.values[name].squeeze().ndim > 1 and name not in taken]

    def norm_pairs(self) -> list[tuple[Norm, Norm]]:
        if len(self.norms) > 1:
            return list(permutations(self.norms, 2))
        one = self.norms[0] if self.norms else PLAIN_NORM
        return [(one, one), (one, PLAIN_NORM), (PLAIN_NORM, one)] if self.norms else [(PLAIN_NORM, PLAIN_NORM)]

    def unread(self, apart_from_the_head: bool = False) -> bool:
        """Whether some matrix in use is no candidate for anything: then no fit can be complete."""
        known = {weight for found in (*self.inward, *self.outward) for weight in found.weights}
        return not self.mlps or self.is_too_much or len(set(self.matrices(self.used)) - known) > apart_from_the_head

    @cached_property
    def is_too_much(self) -> bool:
        """Whether so much could be what that trying it all would take too long."""
        return len(list(self.single())) * len(self.norm_pairs()) * len(self.mlps) > _MOST_FITS


def _misfits_behind(pair: tuple[Linear, Linear]) -> int:
    return misfits({"value": pair[0], "output": pair[1]})


def _misfits_asking(pair: tuple[Linear, Linear]) -> int:
    return misfits({"query": pair[0], "key": pair[1]})
