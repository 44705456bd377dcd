"""A Transformer block explained by what it computed: the order of its parts, and what is wrong with each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from grader import Array
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import ORDERS, RELU, SHARED_NORM, Order, Variant

from .sublayers import Part, Sublayers

_MOST_PATHS = 1000
_NAMES = {
    "attend": "attention",
    "one": "the first LayerNorm",
    "feed": "feed-forward network",
    "two": "the second LayerNorm",
}
_MISSING = {
    "attend": "no attention is: learned maps of its input as queries, keys and values, mixed by a softmax of their "
    "products, and a learned map of that",
    "one": "the first LayerNorm, with a learned gain and shift, is not",
    "feed": "the feed-forward network is not a learned map of an activation of a learned map",
    "two": "the second LayerNorm, with a learned gain and shift, is not",
    "": "together they do not give its output",
}


@dataclass(frozen=True)
class Wanted:
    """What an assignment leaves open."""

    orders: tuple[Diagnosis, ...]
    activations: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    order: Diagnosis
    parts: dict[str, Part]
    output: Array

    def mistakes(self, wanted: Wanted) -> list[Diagnosis]:
        return list(dict.fromkeys(mistake for mistake, _ in self._with_lines(wanted)))

    def line(self, wanted: Wanted) -> int:
        """Of the student's code, where the first wrong value was made; 0 if that is not known."""
        return next((line for _, line in self._with_lines(wanted) if line), 0)

    def _with_lines(self, wanted: Wanted) -> list[tuple[Diagnosis, int]]:
        network, norms = self.parts.get("feed"), [self.parts[name] for name in ("one", "two") if name in self.parts]
        order = Variant(self.order).mistakes(wanted.orders, (RELU,))
        found = [(mistake, norms[0].line if norms else 0) for mistake in order]
        if network:
            activation = Variant(wanted.orders[0], network.activation).mistakes(wanted.orders, wanted.activations)
            found += [(mistake, network.line) for mistake in activation]
        found += [(mistake, part.line) for part in (*norms, *self.parts.values()) for mistake in part.mistakes]
        if len(norms) == 2 and set(norms[0].learned) & set(norms[1].learned) - {None}:
            found.append((SHARED_NORM, norms[1].line))
        return found

    def on(self, x: Array) -> Array:
        """What the parts that were found give for another input."""
        one, two, attend, feed = (
            self.parts[name].function if name in self.parts else np.zeros_like
            for name in ("one", "two", "attend", "feed")
        )
        return ORDERS[self.order](x, attend, feed, one, two)


def explanations(
    sublayers: Sublayers, x: Array, output: Array | None, orders: Sequence[Diagnosis]
) -> Iterator[Explanation]:
    """Every way to get from x to this output, or to any, through parts that are recorded; both are tables of tokens."""
    for order in orders:
        if order != SHARED_NORM:  # that shows by the parameters of the two
            for parts, missing, found in _paths(sublayers, ORDERS[order], x):
                if not missing and (output is None or sublayers.record.close(found, output)):
                    yield Explanation(order, parts, found)


@dataclass(frozen=True)
class Reached:
    """How far the search came through parts without mistakes, where nothing explains the output."""

    parts: dict[str, Part]
    missing: str  # the place at which no recorded part can stand; none if they lead to something else than the output

    def __str__(self) -> str:
        found = " and ".join(_NAMES[name] for name in self.parts) or "no part"
        return f"{found} found; {_MISSING[self.missing]}"


def furthest(sublayers: Sublayers, x: Array, orders: Sequence[Diagnosis]) -> Reached:
    every = (Reached(parts, missing) for order in orders for parts, missing, _ in _paths(sublayers, ORDERS[order], x))
    right = (reached for reached in every if not any(part.mistakes for part in reached.parts.values()))
    return max(right, key=lambda reached: len(reached.parts), default=Reached({}, "attend"))


def _paths(sublayers: Sublayers, order: Order, x: Array) -> Iterator[tuple[dict[str, Part], str, Array]]:
    """Runs the order once for each choice among the parts that can stand at each of its places.

    Gives the parts, the place at which no recorded part can stand, if there is one, and what it came to.
    """
    waiting: list[list[int]] = [[]]
    for _ in range(_MOST_PATHS):
        if not waiting:
            return
        walk = _Walk(sublayers, waiting.pop())
        try:
            yield walk.parts, "", order(x, *(partial(walk.at, name) for name in ("attend", "feed", "one", "two")))
        except _DeadEnd as end:
            yield walk.parts, str(end), x
        waiting += walk.others


class _Walk:
    """One run through an order, which takes these choices where there are several, and then always the first."""

    def __init__(self, sublayers: Sublayers, choices: list[int]) -> None:
        self.searches = {
            "attend": sublayers.attentions,
            "feed": sublayers.networks,
            "one": sublayers.norms,
            "two": sublayers.norms,
        }
        self.choices, self.taken = choices, 0
        self.parts: dict[str, Part] = {}
        self.others: list[list[int]] = []  # choices that are left

    def at(self, name: str, u: Array) -> Array:
        options = self.searches[name](u)
        if not options:
            raise _DeadEnd(name)
        if self.taken == len(self.choices):
            self.others += [[*self.choices, other] for other in range(len(options) - 1, 0, -1)]
            self.choices = [*self.choices, 0]
        part = options[self.choices[self.taken]]
        self.taken += 1
        self.parts.setdefault(name, part)
        return part.output


class _DeadEnd(Exception):
    """No recorded part can stand at this place."""


def best(found: Iterator[Explanation], wanted: Wanted) -> Explanation | None:
    """The first without a mistake, or the one with the fewest."""
    fewest: tuple[int, Explanation] | None = None
    for each in found:
        count = len(each.mistakes(wanted))
        if count == 0:
            return each
        if fewest is None or count < fewest[0]:
            fewest = count, each
    return fewest[1] if fewest else None
