"""A Transformer block explained by what it computed: the order of its parts, and what is wrong with each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grader import Array
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import ORDERS, SHARED_NORM, Order, Variant
from reference.numpy_layers import Function

from .sublayers import Part, Sublayers


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
        network = self.parts.get("feed")
        activation = network.activation if network else wanted.activations[0]
        norms = [self.parts[name] for name in ("one", "two") if name in self.parts]
        found = Variant(self.order, activation).mistakes(wanted.orders, wanted.activations)
        found += [mistake for part in (*norms, *self.parts.values()) for mistake in part.mistakes]
        if len(norms) == 2 and set(norms[0].learned) & set(norms[1].learned) - {None}:
            found.append(SHARED_NORM)
        return list(dict.fromkeys(found))

    def on(self, x: Array) -> Array:
        """What the parts that were found give for another input."""
        none = _nothing
        one, two, attend, feed = (
            self.parts[name].function if name in self.parts else none for name in ("one", "two", "attend", "feed")
        )
        return ORDERS[self.order](x, attend, feed, one, two)


def _nothing(x: Array) -> Array:
    return np.zeros_like(x)


def explanations(sublayers: Sublayers, x: Array, output: Array | None, orders: Sequence[Diagnosis]) -> Iterator[Explanation]:
    """Every way to get from x to this output, or to any, through parts that are recorded; both are tables of tokens."""
    for order in orders:
        if order != SHARED_NORM:  # that shows by the parameters of the two
            for parts, found in _paths(sublayers, ORDERS[order], x):
                if output is None or sublayers.record.close(found, output):
                    yield Explanation(order, parts, found)


def _paths(sublayers: Sublayers, order: Order, x: Array) -> Iterator[tuple[dict[str, Part], Array]]:
    """Runs the order once for each choice among the parts that can stand at each of its places."""
    searches = {
        "one": sublayers.norms,
        "two": sublayers.norms,
        "attend": sublayers.attentions,
        "feed": sublayers.networks,
    }
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        choices, taken, parts = list(waiting.pop()), 0, {}

        def at(name: str) -> Function:
            def choose(u: Array) -> Array:
                nonlocal taken
                options = searches[name](u)
                if taken == len(choices):
                    if not options:
                        raise _DeadEnd
                    waiting.extend((*choices, other) for other in range(1, len(options)))
                    choices.append(0)
                parts.setdefault(name, options[choices[taken]])
                taken += 1
                return options[choices[taken - 1]].output

            return choose

        try:
            found = order(x, at("attend"), at("feed"), at("one"), at("two"))
        except _DeadEnd:
            continue
        yield parts, found


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
