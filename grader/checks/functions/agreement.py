"""All answers of a check looked at at once. Most are right, and then no more needs to be known of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from grader.checks.functions.inputs import Cases
from grader.checks.functions.nested import Values
from grader.compare import Array
from grader.kept_question import Layout, Together


@dataclass(frozen=True)
class Right:
    """What is right for one case, and how far off an answer may be."""

    values: Values
    rtol: float
    atol: float


def all_agree(got: Together | None, cases: Cases, key: Hashable, right: Callable[[], Sequence[Right]]) -> bool:
    """Whether all came, in the shapes asked for, and every number is as near as it has to be. If not, looking at them
    one by one says what is wrong. What is `right` is asked for once under each key."""
    if got is None or got.layout.shapes != cases.once((key, "shapes"), lambda: _shapes(right())):
        return False
    numbers = got.numbers()
    if numbers is None:
        return False
    want, allowed = cases.once((key, got.layout), lambda: _side_by_side(got.layout, right()))
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.abs(numbers - want) <= allowed).all())


def _shapes(right: Sequence[Right]) -> list[tuple[int, ...]]:
    """None that an answer could have, if it could be as far off as it likes."""
    finite = all(isinstance(one.values, np.ndarray) and np.isfinite(one.values).all() for one in right)
    return [one.values.shape for one in right] if finite else []


def _side_by_side(layout: Layout, right: Sequence[Right]) -> tuple[Array, Array]:
    """The right values and the distances allowed, in the order of the layout."""
    ordered = [(np.asarray(right[place].values, np.float64).ravel(), right[place]) for place in layout.order]
    allowed = [one.atol + one.rtol * np.abs(values) for values, one in ordered]
    return np.concatenate([values for values, _ in ordered]), np.concatenate(allowed)


def places_of(layout: Layout) -> list[Array]:
    """Of each answer, where its numbers stand among those of all."""
    found, at = dict[int, Array](), 0
    for place in layout.order:
        shape = layout.shapes[place]
        found[place] = np.arange(at, at + math.prod(shape)).reshape(shape)
        at += found[place].size
    return [found[place] for place in range(len(found))]
