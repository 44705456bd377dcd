"""Which of a module's tensors may be what in an encoder block, by shape and by when they have influence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from grader.checks.modules.recovery.fits import assignments
from grader.checks.modules.recovery.layers import PLAIN_NORM, Linear, Mlp, Norm, Values, maps, outward

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

    def single(self) -> Iterator[tuple[Linear | None, Linear | None]]:
        """Values and output projection; without the latter if there is none in use, without either at last."""
        inner = self._inward(self.alone)
        for chosen in assignments({"value": inner, "output": self._outward(self.alone)}):
            yield chosen["value"], chosen["output"]
        yield from ((value, None) for value in inner)
        yield None, None

    def asking(self, value: Linear, output: Linear | None) -> Iterator[tuple[Linear, Linear]]:
        """Queries and keys, each a layer of its own."""
        others = [
            found for found in self.inward if found.goes_with(value) and (output is None or found.goes_with(output))
        ]
        yield from ((chosen["query"], chosen["key"]) for chosen in assignments({"query": others, "key": others}))

    def shared(self, value: Linear) -> Iterator[tuple[str, Linear, Linear]]:
        """Queries and keys when one layer has two roles, and which."""
        every = [found for found in self.inward if found.layout == value.layout or found.weight != value.weight]
        yield from (("queries and keys", other, other) for other in every if other.goes_with(value))
        yield from (("keys and values", other, value) for other in every if other.goes_with(value))
        yield from (("queries and values", value, other) for other in every if other.goes_with(value))
        yield "queries, keys and values", value, value

    @cached_property
    def inward(self) -> list[Linear]:
        return self._inward(self.used)

    @cached_property
    def outward(self) -> list[Linear]:
        return self._outward(self.used)

    def _inward(self, names: Iterable[str]) -> list[Linear]:
        return maps(self.biases_apart, self.width, self.heads, self.matrices(names), any_layout=True)

    def _outward(self, names: Iterable[str]) -> list[Linear]:
        return outward(self.biases_apart, self.matrices(names), self.width, self.heads)

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
