"""Costs in big-O: whether the cost of each model grows as it should, in every direction its variables can go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import isfinite, log
from typing import Annotated

import numpy as np

from grader import Answer, Outcome, Student, check
from grader.formulas import (
    HALF,
    Expression,
    KeyToAFormula,
    Misfit,
    Share,
    Statements,
    Symbol,
    Unreadable,
    Values,
    Verdict,
    evaluate,
    expression,
    formula_outcome,
    partly,
    plain,
    read_by,
    read_statements,
    right,
    typed,
    undecided,
    wrong,
)

from ...public.formulas.costs_read import CostLetters, costs_as_read, costs_by_subject, costs_can_be_read

_STEPS = (0, 1, 2, 3)  # how fast a variable grows: as t⁰, t¹, t² or t³
_NEAR, _FAR = 1e4, 1e7  # values of t between which the growth is measured
_BASE = 7.0  # a variable that does not grow is 7: above the small numbers of (L − 2)
_CONSTANT = 64.0
_MOST_POWERS = 2.05  # of a constant such as d: costs may carry d or d², and d¹⁰⁰ is no constant
_FLAT = 0.02  # slopes of log(f/g) against log t below this are rounding and lower-order terms


@read_by(costs_as_read)
@check(at_home=costs_can_be_read)
def grows_like_the_key(
    student: Student,
    rng: np.random.Generator,
    *,
    costs: Annotated[dict[str, str], KeyToAFormula()],
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    at_most: list[list[str]],
    fixed: list[str],
    said: dict[str, list[str]] = {},  # noqa: B006 - read only: the words by which letters of one's own are defined
    partial: Share = HALF,
) -> Outcome:
    """The costs grow as they should in every variable; constants and lower-order terms do not matter."""
    return formula_outcome(_grows, student, partial, costs, words, variables, at_most, fixed, said)


def _grows(
    answer: Answer,
    costs: dict[str, str],
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    at_most: list[list[str]],
    fixed: list[str],
    said: dict[str, list[str]],
) -> Verdict:
    letters = CostLetters.of(answer, variables, fixed, said)
    statements = read_statements(answer, letters.vocabulary)
    found_costs = costs_by_subject(statements, words)
    if not found_costs:
        if statements.faults:
            return undecided("the costs could not be read", str(statements.faults[0]), code="formula_unreadable")
        names = " and ".join(costs)
        where = f"{answer.file}:{answer.line}"
        message = f"{where}: no cost was found for {names}; write for example '{next(iter(costs))}: O(…)'"
        return undecided(message, code="formula_not_found")
    pairs = [(low, high) for low, high in at_most]
    given: dict[str, list[Expression]] = {name: listed[-1] for name, listed in found_costs.items()}
    evidence = {name: plain(given[name][-1]) for name in costs if name in given}
    faults: list[_Fault] = []
    unclear: dict[str, Fraction] = {}  # of which of its costs are right
    for name, key in costs.items():
        if name not in given:
            faults.append(_Fault(f"the cost of the {name} model is missing", code="formula_not_found"))
            continue
        wanted = expression(key, CostLetters(dict.fromkeys([*variables, *fixed], "")).vocabulary)
        try:
            found = [
                _fault(name, cost, wanted, statements, letters, list(variables), pairs, fixed) for cost in given[name]
            ]
        except Unreadable as unread:
            cause = f"{answer.file}:{answer.line}: {unread.cause}"
            return undecided(f"the cost of the {name} model could not be read", cause, code="formula_unreadable")
        if None in found and any(found):
            unclear[name] = Fraction(found.count(None), len(found))
        elif found[-1]:
            faults.append(found[-1])
    if unclear:
        either = "; ".join(" or ".join(plain(one) for one in given[name]) for name in unclear)
        detail = f"{answer.file}:{answer.line}: {either}; until a person has decided they earn the average"
        right_ones = sum(unclear.values(), Fraction(len(costs) - len(faults) - len(unclear)))
        return undecided(
            f"it is not clear which cost of the {' and '.join(unclear)} model is meant",
            detail,
            {},
            right_ones / len(costs),
            code="formula_unclear",
        )
    if not faults:
        return right("the costs grow as they should", evidence=evidence)
    message = "; ".join(fault.message for fault in faults)
    detail = "; ".join(fault.detail for fault in faults if fault.detail)
    return (partly if len(faults) < len(costs) else wrong)(message, detail, evidence, code=faults[0].code)


@dataclass(frozen=True)
class _Fault:
    message: str
    detail: str = ""
    code: str = ""


def _fault(
    name: str,
    cost: Expression,
    key: Expression,
    statements: Statements,
    letters: CostLetters,
    variables: list[str],
    at_most: list[tuple[str, str]],
    fixed: list[str],
) -> _Fault | None:
    """What is wrong with one model's cost."""
    whose = f"the cost of the {name} model"
    if unknown := statements.vocabulary.free(statements.expanded(cost)):
        raise Unreadable(f"in {plain(cost)} it is not said what {plain(unknown[0])} is")
    try:
        known = typed(statements.expanded(cost), statements.vocabulary).expression
    except Misfit as misfit:
        return _Fault(f"{whose} does not fit together", misfit.what, "dimension_mismatch")
    difference = compared(letters.in_the_questions(known), key, variables, at_most, fixed)
    if difference is None:
        return None
    sizes = ", ".join(f"{letter} = {size:g}" for letter, size in difference.at.items())
    how, code = ("too fast", "grows_too_fast") if difference.faster else ("too slowly", "grows_too_slowly")
    return _Fault(f"{whose} grows {how}", f"{plain(cost)}, see {sizes}", code)


# ---- growth ----


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
