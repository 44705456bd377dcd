"""*same growth*: do two costs grow alike in every direction their variables can go?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite, log

from grader.formulas import Expression, Symbol, Values, evaluate

_STEPS = (0, 1, 2, 3)  # how fast a variable grows: as t⁰, t¹, t² or t³
_NEAR, _FAR = 1e4, 1e7  # values of t between which the growth is measured
_BASE = 7.0  # a variable that does not grow is 7: above the small numbers of (L − 2)
_CONSTANT = 64.0
_MOST_POWERS = 2.05  # of a constant such as d: costs may carry d or d², and d¹⁰⁰ is no constant
_FLAT = 0.02  # slopes of log(f/g) against log t below this are rounding and lower-order terms


@dataclass(frozen=True)
class Difference:
    """A way to let the variables grow in which one cost leaves the other behind."""

    faster: bool
    at: Mapping[str, float]
    ratio: float


def compared(
    cost: Expression,
    key: Expression,
    variables: Sequence[str],
    at_most: Sequence[tuple[str, str]] = (),
    fixed: Sequence[str] = (),
) -> Difference | None:
    """None if the two grow alike; `at_most` lists pairs such as (m, ℓ), `fixed` names constants such as d."""
    level = dict.fromkeys(variables, 1)
    if any(_powers_of(name, cost, key, level, fixed) > _MOST_POWERS for name in fixed):
        return Difference(True, _sizes(level, _NEAR), float("inf"))
    for steps in product(_STEPS, repeat=len(variables)):
        speed = dict(zip(variables, steps, strict=True))
        if any(speed[small] > speed[large] for small, large in at_most) or not any(steps):
            continue
        near, far = (_ratio(cost, key, speed, fixed, t) for t in (_NEAR, _FAR))
        if near is None or far is None:
            return Difference(True, _sizes(speed, _NEAR), float("inf"))
        slope = (log(far) - log(near)) / (log(_FAR) - log(_NEAR))
        if abs(slope) > _FLAT:
            return Difference(slope > 0, _sizes(speed, _NEAR), near)
    return None


def _powers_of(
    constant: str, cost: Expression, key: Expression, speed: Mapping[str, int], fixed: Sequence[str]
) -> float:
    """How fast the cost grows, against the key, in something that counts as constant."""
    small, large = (_ratio(cost, key, speed, fixed, _NEAR, {constant: size}) for size in (_CONSTANT, 10 * _CONSTANT))
    return float("inf") if small is None or large is None else log(large / small) / log(10)


def _sizes(speed: Mapping[str, int], t: float) -> dict[str, float]:
    return {name: _BASE * t**step for name, step in speed.items()}


def _ratio(
    cost: Expression,
    key: Expression,
    speed: Mapping[str, int],
    fixed: Sequence[str],
    t: float,
    other_constants: Mapping[str, float] = {},  # never changed
) -> float | None:
    constants = {**dict.fromkeys(fixed, _CONSTANT), **other_constants}
    scalars = {Symbol(name): value for name, value in {**_sizes(speed, t), **constants}.items()}
    values = Values({}, scalars=scalars)
    one, other = (float(evaluate(expression, values)[0, 0]) for expression in (cost, key))
    return one / other if isfinite(one) and one > 0 and isfinite(other) and other > 0 else None
