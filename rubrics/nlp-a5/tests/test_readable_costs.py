"""At home students are told whether costs can be read, and nothing of whether they are right."""

from __future__ import annotations

import numpy as np
from rubric_nlp_a5.public.formulas.costs_read import costs_can_be_read

from grader import Outcome, Status
from tests.checks.answering import answering

WORDS = {"vanilla": ["vanilla"], "perceiver": ["perceiver"]}
VARIABLES: dict[str, list[str]] = {"L": [], "ℓ": ["l"], "m": []}


def _judged(text: str) -> Outcome:
    student, rng = answering(text), np.random.default_rng(0)
    outcome: Outcome = costs_can_be_read(student, rng, words=WORDS, variables=VARIABLES, fixed=[])
    return outcome


def test_costs_are_read_right_or_wrong_and_missed_where_there_are_none() -> None:
    for wrong in ("Vanilla: $O(L)$. Perceiver: $O(m^9)$.", "vanilla O(l^2 L), perceiver O(l m)"):
        assert _judged(wrong).status is Status.PASSED
    missed = _judged("Vanilla: $O(L)$.")
    assert (missed.status, missed.code) == (Status.REVIEW, "formula_not_found")
