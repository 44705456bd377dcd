"""What a block computes, found in two steps that need no guess at all of it at once.

A single token attends to itself alone: its output shows values, output projection, LayerNorms, residuals and the
feed-forward network. Several tokens then show queries, keys and how the weights are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from grader.checks.blocks.anatomy import Anatomy, Pair
from grader.checks.blocks.attending import MIXES, RIGHT, Mix, attention
from grader.checks.blocks.equations import FEATURES, OVER_TOKENS, PLAIN, Function, Way, block, ways
from grader.checks.blocks.projections import Projection
from grader.checks.variants.judgements import agree, explanation
from grader.checks.variants.layers import Norm
from grader.compare import Array

_MOST_TRIED = 10_000  # readings, at about 0.1 ms; usual blocks need a tenth of that
Tails = Callable[[tuple[Norm, ...]], Iterator[tuple[object, Function]]]


@dataclass(frozen=True)
class Wanted:
    """What the assignment leaves open in a block."""

    orders: tuple[str, ...]
    activations: tuple[str, ...]


@dataclass(frozen=True)
class Single:
    """A block as a single token shows it."""

    value: Projection | None
    output: Projection | None
    pair: Pair
    norms: tuple[Norm, Norm]
    way: Way
    tail: object  # what follows the block
    finish: Function

    @property
    def is_plain(self) -> bool:
        """Heads in blocks of features, parts wherever: who makes a slip has not also chosen an unusual layout."""
        return all(found is None or "feature" not in found.layout[:-1] for found in (self.value, self.output))

    def departures(self, wanted: Wanted) -> list[str]:
        """What is not as asked, in words."""
        found = self.way.departures(wanted.orders, wanted.activations)
        if self.output is None and "no attention" not in self.way.order:
            found.append("the output projection is left out")
        if "LayerNorm" in self.way.order or self.way.norm != FEATURES:
            return found
        if self.norms[0] == self.norms[1] != PLAIN:
            return [*found, "one LayerNorm serves in both places"]
        if any(not norm.gain or not norm.shift for norm in self.norms):
            found.append("a LayerNorm without a learned gain and shift stands where one with both is asked for")
        return found


def _nothing_follows(left: tuple[Norm, ...]) -> Iterator[tuple[object, Function]]:
    yield None, lambda x: x


def single_readings(
    anatomy: Anatomy, tried: Sequence[Way], tails: Tails = _nothing_follows
) -> Iterator[tuple[Single, Callable[[Array], Array]]]:
    """Every reading in one of these ways."""
    chosen = [
        (value, output, norms, tail)
        for (value, output), norms in product(anatomy.single(), anatomy.norm_pairs())
        for tail in tails(tuple(norm for norm in anatomy.norms if norm not in norms))
    ]
    for way, pair, (value, output, norms, (tail, finish)) in product(
        tried, anatomy.pairs, chosen
    ):
        if (value is None) != ("no attention" in way.order):
            continue
        reading = Single(value, output, pair, norms, way, tail, finish)
        yield reading, partial(_run, reading, anatomy, _attend_to_itself(value, output))


def _attend_to_itself(value: Projection | None, output: Projection | None) -> Function:
    if value is None:
        return np.zeros_like
    return (lambda x: output(value(x))) if output else value


def _run(reading: Single, anatomy: Anatomy, attend: Function, x: Array) -> Array:
    widen, narrow = (partial(layer, values=anatomy.values) for layer in reading.pair)
    return block(x, attend, (widen, narrow), reading.norms, anatomy.values, reading.way)


def singles(anatomy: Anatomy, wanted: Wanted, x: Array, output: Array, tails: Tails = _nothing_follows) -> list[Single]:
    """All readings of the first way that gives these outputs; several, if tensors can be read in several orders."""
    if anatomy.is_too_much:
        return []
    tried = 0
    for way in ways(wanted.orders, wanted.activations):
        right = not way.departures(wanted.orders, wanted.activations)
        readings = [
            (reading, compute)
            for reading, compute in single_readings(anatomy, [way], tails)
            if right or reading.is_plain
        ]
        tried += len(readings)
        if tried > _MOST_TRIED:
            return []
        found = [reading for reading, compute in readings if agree(reading.finish(compute(x)), output)]
        if found:
            return found
    return []


@dataclass(frozen=True)
class Several:
    """A block as several tokens show it."""

    single: Single
    query: Projection
    key: Projection
    slip: str
    mix: Mix

    def run(self, anatomy: Anatomy, x: Array) -> Array:
        assert self.single.value is not None
        out = self.single.output or (lambda joined: joined)
        attend = partial(
            attention, q=self.query, k=self.key, v=self.single.value, out=out, heads=anatomy.heads, mix=self.mix
        )
        return _run(self.single, anatomy, attend, x)


def several_readings(
    anatomy: Anatomy, single: Single, slips: Sequence[str] = (RIGHT,)
) -> Iterator[tuple[Several, Callable[[Array], Array]]]:
    """Every choice of queries and keys for each of these ways to attend, without what follows the block."""
    if single.value is None:
        return
    asking = list(anatomy.asking(single.value, single.output))
    for slip in slips:
        for mix, (q, k) in product(MIXES[slip], asking):
            reading = Several(single, q, k, slip, mix)
            yield reading, partial(reading.run, anatomy)


def shared_readings(anatomy: Anatomy, single: Single) -> Iterator[tuple[Several, Callable[[Array], Array]]]:
    """One layer in two roles."""
    if single.value is None:
        return
    for who, q, k in anatomy.shared(single.value):
        reading = Several(single, q, k, f"{who} come from one layer; each should have its own", MIXES[RIGHT][0])
        yield reading, partial(reading.run, anatomy)


# These give other values than v even to a single token, so the first step cannot be taken.
UNLIKE_ALONE = [
    "the softmax runs over the heads instead of the keys",
    "the attention runs over the heads of each token instead of the tokens",
    "the attention runs over the channels instead of the tokens",
    "the softmax is left out",
    "the weights are not normalised",
    "the scale is applied behind the softmax",
    "each token is hidden from itself",
]


def unlike_alone(anatomy: Anatomy, wanted: Wanted) -> Iterator[tuple[Several, Callable[[Array], Array]]]:
    """Blocks that are right but for an attention in which one token alone is not itself."""
    anatomy = replace(anatomy, alone=anatomy.used)
    if anatomy.is_too_much:
        return
    usual = (wanted.orders[0], wanted.activations[0])
    for way, slips in ((Way(*usual), UNLIKE_ALONE), (Way(*usual, OVER_TOKENS), [RIGHT])):
        for single, _ in single_readings(anatomy, [way]):
            if single.output and single.is_plain:
                yield from several_readings(anatomy, single, slips)


def first(readings: Iterator[tuple[Several, Callable[[Array], Array]]], inputs: Sequence[Array], outputs: Sequence[Array], finish: Function) -> Several | None:
    complete = ((reading, lambda x, compute=compute: finish(compute(x))) for reading, compute in readings)  # type: ignore[misc]
    return explanation(complete, [(x,) for x in inputs], outputs)
