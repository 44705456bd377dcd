"""Answers that offer alternatives: what they earn until a person decides, and what the person is told."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from grader.answers import cut_into_parts
from grader.formulas.answer.asked_for import AskedName, found_for
from grader.formulas.answer.statements import Proposed, read_statements
from grader.model import Answer, Outcome, Status
from tests.conftest import the_rubric
from tests.formulas.spelling_out import BASES

pytestmark = pytest.mark.usefixtures("in_this_process")
PROBLEMS = {
    problem.id: problem
    for name in ("nlp-a5", "dl-hw3")
    for problem in the_rubric(f"rubrics/{name}/tests/formula_questions.yaml", name).problems
}


@dataclasses.dataclass(frozen=True)
class Wrote:
    answer: Answer


def _answer(part: str, text: str) -> Answer:
    return cut_into_parts(f"# {part}\n\n{text}\n", "answers.md", list(PROBLEMS)).parts[part]


def _outcome(part: str, text: str) -> Outcome:
    (check,) = PROBLEMS[part].checks
    return check.function(Wrote(_answer(part, text)), np.random.default_rng(0), **check.parameters)


@pytest.mark.parametrize(
    ("part", "text", "score"),
    [
        ("1.b.i", r"$M = A^\top$ or $M = AA^\top$", Fraction(1, 2)),
        ("1.b.i", r"$M = A^\top$, $M = A^\top A$ or $M = AA^\top$", Fraction(1, 3)),
        ("1.b.ii", r"$q = k_a + k_b$ or $q = \beta(k_a + k_b)$", Fraction(3, 4)),
        ("1.d.i", r"$q_1 = \beta\mu_a$, $q_2 = \beta\mu_b$ or $q_1 = \beta v_a$, $q_2 = \beta v_b$", Fraction(1, 2)),
        ("2.g.ii", r"Vanilla: $O(L\ell)$ or $O(L\ell^2)$. Perceiver: $O(\ell m + Lm^2)$.", Fraction(3, 4)),
        ("1.1.b", r"$\beta = 1/d$ or $\beta = 1/\sqrt d$", Fraction(1, 2)),
    ],
)
def test_the_average_counts_until_a_person_decides(part: str, text: str, score: Fraction) -> None:
    outcome = _outcome(part, text)
    assert (outcome.status, outcome.score) == (Status.REVIEW, score)
    assert "average" in outcome.detail


def test_the_person_reads_every_alternative_and_its_place() -> None:
    outcome = _outcome("1.b.i", "$M = A^\\top$ or\n\n$AA^\\top$")
    assert "answers.md:3:1: 'M = A^\\top' or 'AA^\\top'" in outcome.detail
    assert [one["score"] for one in outcome.revealing["alternatives"]] == ["0", "1"]
    assert not outcome.evidence, "which of them is right is not for every reader"


def test_all_wrong_gets_the_message_of_the_last() -> None:
    alone = _outcome("1.b.i", "$M = 2AA^\\top$")
    assert _outcome("1.b.i", "$M = A^\\top$ or $M = 2AA^\\top$") == alone
    assert alone.status is Status.FAILED


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("M = A^T or M = AA^T", ["M = A^T", "M = AA^T"]),
        ("M = A^T, or rather M = AA^T", ["M = AA^T"]),
        ("M = A^T (or maybe AA^T)", ["M = A^T", "AA^T"]),
        ("- M = A^T\n- M = AA^T", ["M = A^T", "M = AA^T"]),
        ("M = A^T\n\nM = AA^T", ["M = AA^T"]),
        ("M = A^T or M = A^T A. Final answer: M = AA^T", ["M = AA^T"]),
        ("M = AA^T. If that is wrong, M = A^T", ["M = AA^T", "M = A^T"]),
        ("M = AA^T, not M = A^T or M = A^T A", ["M = AA^T"]),
    ],
)
def test_what_is_offered(text: str, offered: list[str]) -> None:
    statements = read_statements(_answer("1.b.i", text), BASES)
    found = found_for(AskedName("M", expected=("d", "d")), statements)
    assert isinstance(found, Proposed)
    assert [one.text for one in found.offered] == offered


def test_a_word_before_the_or_leaves_it_an_or() -> None:
    assert _outcome("1.b.i", r"$M = A^\top$ works or $M = AA^\top$").score == Fraction(1, 2)
