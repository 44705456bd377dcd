"""Whether costs in big-O can be read, without a word on whether they are right."""

from __future__ import annotations

import numpy as np

from grader import Answer, Outcome, Student, check
from grader.formulas import HALF, Verdict, formula_outcome, plain, read_by, read_statements, right, undecided

from .cost_attribution import CostLetters, costs_as_read, costs_by_subject


@read_by(costs_as_read)
@check(judges=False)
def costs_can_be_read(
    student: Student,
    rng: np.random.Generator,
    *,
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    fixed: list[str],
    said: dict[str, list[str]] = {},  # noqa: B006 - read only
) -> Outcome:
    """A cost is found for each model, and it can be read; whether it is right is judged later."""
    return formula_outcome(_read_costs, student, HALF, words, variables, fixed, said)


def _read_costs(
    answer: Answer,
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    fixed: list[str],
    said: dict[str, list[str]],
) -> Verdict:
    statements = read_statements(answer, CostLetters.of(answer, variables, fixed, said).vocabulary)
    found = costs_by_subject(statements, words)
    if missing := [name for name in words if name not in found]:
        cause = str(statements.faults[0]) if statements.faults else f"write for example '{missing[0]}: O(…)'"
        return undecided(
            f"{answer.file}:{answer.line}: no cost was found for {' and '.join(missing)}",
            cause,
            code="formula_not_found",
        )
    read_as = (f"{name}: {plain(costs[-1][-1])}" for name, costs in found.items())
    return right("the costs can be read", ", ".join(read_as))
