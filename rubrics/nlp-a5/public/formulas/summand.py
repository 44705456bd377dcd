"""A matrix that takes one vector out of a sum of two."""

from __future__ import annotations

import numpy as np

from grader import Answer, Outcome, Student, check
from grader.formulas import (
    HALF,
    AskedName,
    Proposed,
    Reading,
    Share,
    Statements,
    Typed,
    Verdict,
    formula_outcome,
    how_read,
    judged,
    read_by,
    seed_from,
)

from . import extraction


def _as_read(answer: Answer, *, name: str = "M", partial: Share = HALF) -> list[Reading]:
    return [how_read(answer, extraction.VOCABULARY, AskedName(name, expected=extraction.EXPECTED))]


@read_by(_as_read)
@check
def extracts_one_vector_of_a_sum(
    student: Student, rng: np.random.Generator, *, name: str = "M", partial: Share = HALF
) -> Outcome:
    """M turns v_a + v_b into v_a, for all v_a in the span of A and v_b in the span of B."""
    return formula_outcome(_extracts, student, partial, name, seed_from(rng))


def _extracts(answer: Answer, name: str, seed: int) -> Verdict:
    def judge(found: Typed, statements: Statements, proposed: Proposed) -> Verdict:
        return extraction.judge(found, np.random.default_rng(seed))

    return judged(answer, extraction.VOCABULARY, AskedName(name, expected=extraction.EXPECTED), judge)
