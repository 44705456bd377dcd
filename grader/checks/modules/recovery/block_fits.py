"""What a block computes, found in two steps that need no guess at all of it at once.

A single token attends to itself alone: its output shows values, output projection, LayerNorms, residuals and the
feed-forward network. Several tokens then show queries, keys and how the weights are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, product

import numpy as np

from grader.checks.modules.recovery.attending import MIXES, RIGHT, Mix, attention
from grader.checks.modules.recovery.block_anatomy import Anatomy, Pair
from grader.checks.modules.recovery.block_equations import (
    FEATURES,
    OVER_TOKENS,
    PLAIN,
    Function,
    Way,
    block,
    ways,
)
from grader.checks.modules.recovery.judgements import agree, explanation
from grader.checks.modules.recovery.layers import Norm
from grader.checks.modules.recovery.projections import Projection
from grader.compare import Array

Tails = Callable[[tuple[Norm, ...]], Iterator[tuple[object, Function]]]


@dataclass(frozen=True)
class Wanted:
    """What the assignment leaves open in a block."""

    orders: tuple[str, ...]
    activations: tuple[str, ...]
    output: bool = True  # behind a single head, W_O and W_V are one map, and W_O may be left out


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

    def departures(self, wanted: Wanted) -> list[str]:
        """What is not as asked, in words."""
        found = self.way.departures(wanted.orders, wanted.activations)
        if wanted.output and self.output is None and "no attention" not in self.way.order:
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


_Choice = tuple[Projection | None, Projection | None, tuple[Norm, Norm], object, Function]


def _choices(anatomy: Anatomy, tails: Tails) -> list[_Choice]:
    return [
        (value, output, norms, tail, finish)
        for (value, output), norms in product(anatomy.single(), anatomy.norm_pairs())
        for tail, finish in tails(tuple(norm for norm in anatomy.norms if norm not in norms))
    ]


def _in_ways(
    anatomy: Anatomy, tried: Sequence[Way], choices: Sequence[_Choice]
) -> Iterator[tuple[Single, Callable[[Array], Array]]]:
    for way, pair, (value, output, norms, tail, finish) in product(tried, anatomy.pairs, choices):
        if (value is None) == ("no attention" in way.order):
            reading = Single(value, output, pair, norms, way, tail, finish)
            yield reading, partial(_run, reading, anatomy, _attend_to_itself(value, output))


def _attend_to_itself(value: Projection | None, output: Projection | None) -> Function:
    if value is None:
        return np.zeros_like
    return (lambda x: output(value(x))) if output else value


def _run(reading: Single, anatomy: Anatomy, attend: Function, x: Array) -> Array:
    widen, narrow = (partial(layer, values=anatomy.values) for layer in reading.pair)
    return block(x, attend, (widen, narrow), reading.norms, anatomy.values, reading.way)


def singles(
    anatomy: Anatomy,
    wanted: Wanted,
    x: Array,
    output: Array,
    tails: Tails = _nothing_follows,
    naming: bool = True,
) -> list[Single]:
    """All readings of the first way that gives these outputs; several, if tensors can be read in several orders.

    Without `naming`, right ways alone are tried.
    """
    if anatomy.is_too_much:
        return []
    every = _choices(anatomy, tails)
    whole = [choice for choice in every if choice[1]]
    plain = [choice for choice in every if _is_plain(choice) and (choice[1] or choice[0] is None)]
    without = [choice for choice in every if choice[0] and not choice[1]]
    right, wrong = ways(wanted.orders, wanted.activations)
    passes = [(right, whole), (wrong, plain), (right, without)] if naming else [(right, whole)]
    for tried, choices in passes:
        for way in tried:
            readings = _in_ways(anatomy, [way], choices)
            found = [reading for reading, compute in readings if agree(reading.finish(compute(x)), output)]
            if found:
                return found
    return []


def _is_plain(choice: _Choice) -> bool:
    """Heads in blocks of features, parts wherever: who makes a slip has not also chosen an unusual layout."""
    return all(found is None or "feature" not in found.layout[:-1] for found in choice[:2])


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


# Readings of four layers in every slip. A usual block has some thousands, a usual ViT 30,000; where each head has
# layers as wide as the block there are millions, which would take minutes.
_MOST_SLIPS = 50_000

# These give other values than v to a single token, or to equal ones, so the first step cannot be taken.
UNLIKE_ALONE = [
    "the softmax runs over the heads instead of the keys",
    "the attention runs over the heads of each token instead of the tokens",
    "the attention runs over the channels instead of the tokens",
    "the softmax is left out",
    "the weights are not normalised",
    "the scale is applied behind the softmax",
    "each token is hidden from itself",
    "the heads are joined without the transpose back, which mixes tokens",
    "the heads are made by view() without a transpose, which mixes tokens",
    "the softmax runs over the queries instead of the keys",
]


def unlike_alone(
    anatomy: Anatomy, usual: Sequence[Way], tails: Tails = _nothing_follows
) -> Iterator[tuple[Several, Callable[[Array], Array]]]:
    """Blocks that are right but for an attention in which one token, or equal ones, do not attend to themselves."""
    anatomy = replace(anatomy, alone=anatomy.used)
    if anatomy.is_too_much:
        return
    choices = [choice for choice in _choices(anatomy, tails) if choice[1] and _is_plain(choice)]
    every = (
        several_readings(anatomy, single, slips)
        for right in usual
        for way, slips in ((right, UNLIKE_ALONE), (replace(right, norm=OVER_TOKENS), [RIGHT]))
        for single, _ in _in_ways(anatomy, [way], choices)
    )
    yield from islice(chain.from_iterable(every), _MOST_SLIPS)


def alone(anatomy: Anatomy, single: Single, x: Array) -> Array:
    """What the block makes of tokens that attend to themselves only."""
    return _run(single, anatomy, _attend_to_itself(single.value, single.output), x)


def first(
    readings: Iterator[tuple[Several, Callable[[Array], Array]]], inputs: Sequence[Array], outputs: Sequence[Array]
) -> Several | None:
    return explanation(readings, [(x,) for x in inputs], outputs)
