"""Weights of attention, of all inputs at once. Only a pass comes of it: what does not pass so is looked at input by
input, which says what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.checks.functions.agreement import places_of
from grader.checks.functions.inputs import Cases
from grader.compare import ATOL, RTOL, Array
from grader.kept_question import Layout, Together

# Numbers are added up in another order here than input by input, so a sum may differ in its last digit. What is
# within half of what is allowed is within it in any order.
_SURELY = RTOL / 2


@dataclass(frozen=True)
class _Queries:
    """Where the weights of each query stand, query after query."""

    places: Array
    starts: Array  # of each query's weights
    inputs: Array  # the first query of each input


def are_weights(got: Together | None, cases: Cases, shapes: Sequence[tuple[int, ...]]) -> bool:
    """Whether all came in these shapes, a column for each query, none negative, each column with a sum of one, and in
    each input one at least that is not the same for every key."""
    if got is None or got.layout.shapes != shapes:
        return False
    numbers = got.numbers()
    if numbers is None or not np.isfinite(numbers).all() or (numbers < -ATOL).any():
        return False
    queries = cases.once(("weights", got.layout), lambda: _queries(got.layout))
    by_query = numbers[queries.places]
    spread = np.maximum.reduceat(by_query, queries.starts) - np.minimum.reduceat(by_query, queries.starts)
    if (np.maximum.reduceat(spread, queries.inputs) <= ATOL).any():
        return False
    return bool((np.abs(np.add.reduceat(by_query, queries.starts) - 1) <= _SURELY).all())


def _queries(layout: Layout) -> _Queries:
    columns = [places.T for places in places_of(layout)]
    keys = [length for one in columns for length in [one.shape[1]] * len(one)]
    return _Queries(
        np.concatenate([one.ravel() for one in columns]),
        np.cumsum([0, *keys[:-1]]),
        np.cumsum([0, *(len(one) for one in columns[:-1])]),
    )


@dataclass(frozen=True)
class _Triples:
    """Where answers stand that belong together: to some pairs, to the same in another order, to pairs torn apart."""

    before: Array
    after: Array
    torn_apart: Array
    starts: Array  # of each triple's numbers in each of them


def only_pairs_matter(got: Together | None, cases: Cases) -> bool:
    """Whether of each three answers the second is the first, and the third is not."""
    triples = cases.once(("pairs", got.layout), lambda: _triples(got.layout)) if got is not None else None
    numbers = got.numbers() if got is not None and triples is not None else None
    if triples is None or numbers is None or not np.isfinite(numbers).all():
        return False
    want = numbers[triples.before]
    allowed = ATOL + RTOL * np.abs(want)
    with np.errstate(over="ignore", invalid="ignore"):
        if not (np.abs(numbers[triples.after] - want) - allowed <= 0).all():
            return False
        differs = np.abs(numbers[triples.torn_apart] - want) - allowed > 0
    return bool(np.logical_or.reduceat(differs, triples.starts).all())


def _triples(layout: Layout) -> _Triples | None:
    """None if three that belong together are not of one shape."""
    if not layout.shapes[::3] == layout.shapes[1::3] == layout.shapes[2::3]:
        return None
    places = [one.ravel() for one in places_of(layout)]
    before, after, torn_apart = (np.concatenate(places[at::3]) for at in range(3))
    return _Triples(before, after, torn_apart, np.cumsum([0, *(one.size for one in places[:-3:3])]))
