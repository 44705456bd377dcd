"""The same answers get the same verdict in whatever form they are handed in: text exactly, PDF that or a person."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from benchmarks.forms.corpus import FOLDER, SHEETS, prompts, sheet
from benchmarks.forms.every_form import FORMS
from benchmarks.forms.judged import Judge, Verdict, differing, fate
from benchmarks.forms.stored_pdfs import MADE_FROM, hashes
from benchmarks.forms.typed_math import html, plain
from grader.model import Status
from grader.sandbox import BoxRunner
from tests.conftest import EVERY_CASE, read_yaml

KNOWN: dict[str, Any] = read_yaml(FOLDER / "known.yaml") or {}
LEAST_ANSWERS = 60


@pytest.fixture(scope="module")
def judge(boxes: BoxRunner) -> Judge:
    return Judge(boxes)


# Each form with two sheets, and each sheet in four forms and more; `python -m benchmarks.forms` asks all.
_PAIRS = [
    (form, name)
    for at, form in enumerate(FORMS)
    for number, name in enumerate(SHEETS)
    if EVERY_CASE or (number - 2 * at) % len(SHEETS) < 2
]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "name"), _PAIRS)
def test_a_form_gets_the_verdicts_of_markdown(judge: Judge, form: str, name: str) -> None:
    found = differing(judge.in_markdown(sheet(name)), judge(sheet(name), FORMS[form]), sheet(name), FORMS[form])
    assert found == KNOWN.get(form, {}).get(name, []), "more is wrong than known.yaml says, or less"


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_sheet_may_have_any_name(judge: Judge, form: str) -> None:
    one = sheet("nlp_a5_second")
    by_name, by_what_it_says = (judge(one, FORMS[form], stem) for stem in ("answers", "main"))
    assert {part: (verdict.status, verdict.points) for part, verdict in by_what_it_says.items()} == {
        part: (verdict.status, verdict.points) for part, verdict in by_name.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_optional_parts_are_not_switched_on_by_a_sheet_without_them(judge: Judge, form: str) -> None:
    got = judge(sheet("nlp_a5_third"), FORMS[form])
    assert {got[part].status for part in ("1.e.i", "1.e.ii")} == {Status.MISSING}


def test_the_answers_are_enough_and_of_every_label() -> None:
    labels = Counter(answer.label for name in SHEETS for answer in sheet(name).answers.values())
    assert labels.total() >= LEAST_ANSWERS
    assert set(labels) == {"right", "partial", "wrong"}
    assert min(labels.values()) >= LEAST_ANSWERS / 4


@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_answers_parts_that_are_asked(name: str) -> None:
    one = sheet(name)
    assert list(one.answers) == [part for part in prompts(one.rubric) if part in one.answers]


def test_the_stored_pdfs_are_of_these_answers() -> None:
    assert read_yaml(MADE_FROM) == hashes(), "make them anew: python -m benchmarks.forms.stored_pdfs"


def test_what_is_worse_or_better_is_noticed() -> None:
    def verdict(status: Status, points: int) -> Verdict:
        return Verdict(status, points, (("one", status, points),), "")  # type: ignore[arg-type]

    passed = verdict(Status.PASSED, 2)
    assert fate(passed, passed) == "same"
    assert fate(passed, verdict(Status.REVIEW, 1)) == "review"
    assert fate(passed, verdict(Status.FAILED, 0)) == "different"
    assert fate(verdict(Status.REVIEW, 1), verdict(Status.REVIEW, 2)) == "different"
    assert fate(passed, verdict(Status.MISSING, 0)) == "missing"


@pytest.mark.parametrize(
    ("formula", "typed", "marked_up"),
    [
        (r"M = A A^\top", "M = A Aᵀ", "M = A A<sup>T</sup>"),
        (r"q = \beta (k_a + k_b)", "q = β (kₐ + k_b)", "q = β (k<sub>a</sub> + k<sub>b</sub>)"),
        (r"\frac{1}{2}(v_a)", "½(vₐ)", "½(v<sub>a</sub>)"),
        (r"\frac{1}{\beta^2} (u)", "(1/β²) (u)", "(1/β<sup>2</sup>) (u)"),
        (r"\frac{e^{\beta}}{2 + n} \approx 1", "e^β/(2 + n) ≈ 1", "e<sup>β</sup>/(2 + n) ≈ 1"),
        (r"a_{ij} < \sqrt{d}", "aᵢⱼ < √d", "a<sub>ij</sub> &lt; √d"),
        (r"\Delta h_j \in \mathbb{R}^{m \times n}", "Δhⱼ ∈ ℝ^(m × n)", "Δh<sub>j</sub> ∈ ℝ<sup>m × n</sup>"),
    ],
)
def test_formulas_are_typed_as_people_type_them(formula: str, typed: str, marked_up: str) -> None:
    assert (plain(formula), html(formula)) == (typed, marked_up)
