"""Costs in big-O: whether the cost of each model grows as it should."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
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
    Unreadable,
    Verdict,
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

from ...public.formulas.cost_attribution import CostLetters, costs_as_read, costs_by_subject
from ...public.formulas.readable_costs import costs_can_be_read
from . import growth


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
    difference = growth.compared(letters.in_the_questions(known), key, variables, at_most, fixed)
    if difference is None:
        return None
    sizes = ", ".join(f"{letter} = {size:g}" for letter, size in difference.at.items())
    how, code = ("too fast", "grows_too_fast") if difference.faster else ("too slowly", "grows_too_slowly")
    return _Fault(f"{whose} grows {how}", f"{plain(cost)}, see {sizes}", code)
