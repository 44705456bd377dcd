"""Classic mistakes in attention over columns, by the function they are made in: each under what it looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from reference.mistakes.diagnosis import all_of
from reference.mistakes.extremes import MASKS_AT_EXTREMES, OVERFLOWS, WEIGHTS_AT_EXTREMES
from reference.mistakes.several_heads import MASKS, SEVERAL_HEADS, SEVERAL_HEADS_ON_SQUARES, attend_in_heads
from reference.mistakes.single_head import SINGLE_HEAD, SINGLE_HEAD_ON_SQUARES, Ways, attend

Mistake = Callable[..., Any]
Mistakes = Mapping[str, Sequence[Mistake]]


def _made(function: Mistake, ways: Ways) -> Mistakes:
    return {cause: [partial(function, **options) for options in several] for cause, several in ways.items()}


def _both(ways: Ways, others: Ways) -> Ways:
    """As a dictionary's union, with the ways of a cause that stands in both one after the other."""
    return {cause: [*ways.get(cause, []), *others.get(cause, [])] for cause in {**ways, **others}}


_MADE_IN: dict[str, tuple[Mistake, Ways]] = {
    "attention": (attend, SINGLE_HEAD),
    "multi_head_attention": (attend_in_heads, _both(SEVERAL_HEADS, MASKS)),
}

MISTAKES: dict[str, Mistakes] = {name: _made(function, ways) for name, (function, ways) in _MADE_IN.items()}

# What crashes on rectangles: it is told from what it gives where all sides are equal.
ON_SQUARES: dict[str, Mistakes] = {
    "attention": SINGLE_HEAD_ON_SQUARES,
    "multi_head_attention": _made(attend_in_heads, SEVERAL_HEADS_ON_SQUARES),
}

# What shows only where scores are huge.
AT_EXTREMES: dict[str, Mistakes] = {
    "attention": _made(attend, {**WEIGHTS_AT_EXTREMES, **OVERFLOWS}),
    "multi_head_attention": _made(attend_in_heads, {**WEIGHTS_AT_EXTREMES, **MASKS_AT_EXTREMES, **OVERFLOWS}),
}


def pairs(name: str) -> Iterator[tuple[str, Mistake]]:
    """Two mistakes made together, where neither undoes the other: they share no option."""
    function, ways = _MADE_IN[name]
    listed = [(cause, options) for cause, several in ways.items() for options in several]
    for (one, first), (other, second) in combinations(listed, 2):
        if first.keys().isdisjoint(second):
            yield all_of([one, other]), partial(function, **first, **second)
