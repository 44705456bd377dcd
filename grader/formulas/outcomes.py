"""From the verdict on a formula to an outcome. The verdict is reached where it can be killed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from grader.errors import Missing
from grader.formulas.killable_child import CPU_SECONDS, TookTooLong, in_killable_child
from grader.formulas.provers.verdicts import HALF, Verdict, undecided
from grader.model import Outcome, Status, Student, scored
from grader.quoting import quote

_DOTS = " \t\n.…–—-?!_*"  # what stands where an answer was left out
_DETAIL_CHARACTERS = 600  # two formulas and what is wrong with them; it holds students' own symbols, so it is quoted


def formula_outcome(judge: Callable[..., Verdict], student: Student, partial: Fraction, *args: Any) -> Outcome:
    """What `judge(answer, *args)` finds; half a verdict earns `partial`, and what is undecided goes to a person.

    The judge is found by its module and name in another process, so it stands at the top level of its module.
    """
    answer = student.answer
    if not any(piece.text.strip(_DOTS) for piece in answer.pieces):
        message = f"{answer.file}:{answer.line}: the answer to {answer.part} is empty"
        raise Missing(message, code="answer_empty")
    try:
        verdict: Verdict = in_killable_child(judge, answer, *args)
    except TookTooLong:
        cause = f"judging this formula took longer than {CPU_SECONDS:g} s of computing"
        verdict = undecided(f"{cause}, so a person decides", code="judging_timed_out")
    detail = quote(verdict.detail, _DETAIL_CHARACTERS)
    score = partial if verdict.score == HALF else verdict.score
    if score is None:
        return Outcome(
            Status.REVIEW, verdict.provisional, verdict.message, detail, revealing=verdict.evidence, code=verdict.code
        )
    return scored(score, verdict.message, detail, revealing=verdict.evidence, code=verdict.code)


def seed_from(rng: np.random.Generator) -> int:
    """A seed for the process that judges."""
    return int(rng.integers(2**62))
