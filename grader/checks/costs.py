"""Costs in big-O: which model each belongs to, and whether it grows as it should."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grader.checks.formula_outcomes import Share, formula_outcome
from grader.formulas import growth
from grader.formulas.expressions import Apply, Expression, Symbol, symbols_in, walk
from grader.formulas.reading import expression
from grader.formulas.shapes import Misfit, typed
from grader.formulas.statements import Statements, read_statements
from grader.formulas.tokens import Unreadable
from grader.formulas.verdicts import HALF, Verdict, partly, right, undecided, wrong
from grader.formulas.vocabulary import Declared, Vocabulary
from grader.formulas.writer import plain
from grader.model import Answer, Outcome, Student
from grader.registry import check

_MARKS = ("O", "Θ", "Ω")


@check
def grows_like_the_key(
    student: Student,
    rng: np.random.Generator,
    *,
    costs: dict[str, str],
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    at_most: list[list[str]],
    fixed: list[str],
    partial: Share = HALF,
) -> Outcome:
    """The costs grow as they should in every variable; constants and lower-order terms do not matter."""
    return formula_outcome(_grows, student, partial, costs, words, variables, at_most, fixed)


def _grows(
    answer: Answer,
    costs: dict[str, str],
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    at_most: list[list[str]],
    fixed: list[str],
) -> Verdict:
    declared = [Declared(name, aliases=tuple(others)) for name, others in variables.items()]
    declared += [Declared(name) for name in fixed]
    vocabulary = Vocabulary(tuple(declared), functions=frozenset({*_MARKS, "o"}))
    statements = read_statements(answer, vocabulary)
    given = _costs_by_subject(statements, words)
    if not given:
        if statements.faults:
            return undecided("the costs could not be read", str(statements.faults[0]))
        names = " and ".join(costs)
        where = f"{answer.file}:{answer.line}"
        return undecided(f"{where}: no cost was found for {names}; write for example '{next(iter(costs))}: O(…)'")
    evidence = {name: plain(given[name]) for name in costs if name in given}
    pairs = [(low, high) for low, high in at_most]
    faults: list[_Fault] = []
    for name, key in costs.items():
        if name not in given:
            faults.append(_Fault(f"the cost of the {name} model is missing"))
            continue
        try:
            fault = _fault(name, given[name], expression(key, vocabulary), statements, list(variables), pairs, fixed)
        except Unreadable as unread:
            return undecided(f"the cost of the {name} model could not be read", unread.cause)
        if fault:
            faults.append(fault)
    if not faults:
        return right("the costs grow as they should", evidence=evidence)
    message = "; ".join(fault.message for fault in faults)
    detail = "; ".join(fault.detail for fault in faults if fault.detail)
    return (partly if len(faults) < len(costs) else wrong)(message, detail, evidence)


@dataclass(frozen=True)
class _Fault:
    message: str
    detail: str = ""


def _fault(
    name: str,
    cost: Expression,
    key: Expression,
    statements: Statements,
    variables: list[str],
    at_most: list[tuple[str, str]],
    fixed: list[str],
) -> _Fault | None:
    """What is wrong with one model's cost."""
    whose = f"the cost of the {name} model"
    if statements.vocabulary.free(cost):
        return _Fault(f"{whose} uses a letter the question does not have", plain(cost))
    try:
        known = typed(statements.expanded(cost), statements.vocabulary).expression
    except Misfit as misfit:
        return _Fault(f"{whose} does not fit together", misfit.what)
    difference = growth.compared(known, key, variables, at_most, fixed)
    if difference is None:
        return None
    sizes = ", ".join(f"{letter} = {size:.0e}" for letter, size in difference.at.items())
    return _Fault(f"{whose} grows {'too fast' if difference.faster else 'too slowly'}", f"{plain(cost)}, see {sizes}")


def _costs_by_subject(statements: Statements, words: Mapping[str, list[str]]) -> dict[str, Expression]:
    """Which cost belongs to which model, by the words around it."""
    subjects = [
        (order, subject)
        for order, token in enumerate(statements.tokens)
        for subject, spellings in words.items()
        if token.kind in ("WORD", "NAME") and str(token.value).lower() in spellings
    ]
    costs = _costs(statements)
    if not costs or not subjects:
        return {}
    first = costs[0][0]
    before = list(dict.fromkeys(subject for order, subject in subjects if order < first))
    if len(before) == len(words) == len(costs) and len(words) > 1:  # "A and B: x and y respectively"
        return {subject: cost for subject, (_, cost) in zip(before, costs, strict=True)}
    found: dict[str, Expression] = {}
    for order, cost in costs:
        earlier = [subject for place, subject in subjects if place < order]
        later = [subject for place, subject in subjects if place > order]
        if before and earlier:
            found[earlier[-1]] = cost
        elif later:
            found[later[0]] = cost
        else:
            found[subjects[-1][1]] = cost
    return found


def _costs(statements: Statements) -> list[tuple[int, Expression]]:
    """The last cost of each clause, with its place; if some are written as O(…), only those."""
    marked: list[tuple[int, Expression]] = []
    unmarked: list[tuple[int, Expression]] = []
    for clause in statements.clauses:
        for tokens in reversed(clause.members):
            cost = statements.read(tokens)
            if cost is None or not symbols_in(cost):
                continue
            if any(isinstance(part, Apply) and part.function in _MARKS for part in walk(cost)):
                marked.append((clause.order, cost))
                break
            if not isinstance(cost, Symbol):
                unmarked.append((clause.order, cost))
                break
    return marked or unmarked
