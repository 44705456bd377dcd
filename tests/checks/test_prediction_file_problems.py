"""Prediction files after a mishap: lines of another program, two runs in one file, a model that was not finetuned."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grader.model import Status
from tests.checks.test_predictions import DEV, GOOD, WEAK, Judge, _text, judge
from tests.conftest import sampled

__all__ = ["judge"]
SCORE = "Correct: 106.0 out of 300.0: 35.333333333333336%"
PARAMETERS = ["data has 418352 characters, 256 unique.", "number of parameters: 3323392"]
QUESTIONS = [f"{q.text}\t{x}" for q, x in zip(DEV, GOOD, strict=True)]

MENDED = {
    "accuracy first": ([SCORE, *GOOD], "stray_lines", "line 1 "),
    "accuracy last": ([*GOOD, SCORE], "stray_lines", "line 301 "),
    "a bare number first": (["0.3533", *GOOD], "stray_lines", "line 1 "),
    "what the course's code prints": ([*PARAMETERS, *GOOD], "stray_lines", "lines 1, 2 "),
    "a progress bar": (["300it [00:12, 24.5it/s]", *GOOD], "stray_lines", "line 1 "),
    "a prompt": ([*GOOD[:100], "Accuracy so far: 31 %", *GOOD[100:]], "stray_lines", "line 101 "),
    "a blank line first": (["", *GOOD], "blank_lines", "line 1 "),
    "a blank line after each": ([part for line in GOOD for part in (line, "")][:-1], "blank_lines", "lines 2, 4, 6, "),
    "a blank line within": ([*GOOD[:200], "", *GOOD[200:]], "blank_lines", "line 201 "),
    "twice": (GOOD * 2, "repeated_lines", "300 lines stand there 2 times"),
    "a block twice": ([*GOOD[:120], *GOOD[100:]], "repeated_lines", "lines 121 to 140 "),
    "questions, one missing": (QUESTIONS[:7] + QUESTIONS[8:], "questions_in_lines", "line 8 "),
    "questions in another order": ([QUESTIONS[1], QUESTIONS[0], *QUESTIONS[2:]], "questions_in_lines", "lines 1, 2 "),
    "questions and a stray line": ([SCORE, *QUESTIONS], "stray_lines", "line 1 "),
}


@pytest.mark.parametrize(("lines", "code", "where"), sampled(MENDED.values(), 2), ids=list(MENDED))
def test_a_mishap_that_leaves_no_doubt_costs_its_form(judge: Judge, lines: list[str], code: str, where: str) -> None:
    form, reach = judge(_text(lines))
    assert (form.status, form.score, form.code) == (Status.PARTIAL, Fraction(1, 2), code), form
    assert (reach.status, reach.score, reach.code) == (Status.REVIEW, Fraction(1), "needs_cleanup"), reach
    assert reach.evidence["right"] >= 105
    assert any(where in remark for remark in reach.evidence["remarks"])


SHIFTED = {
    "a title": (["vanilla", *GOOD], "lines_shifted", "1 line too many before"),
    "a title, the last line cut": (["vanilla", *GOOD[:-1]], "lines_shifted", "1 line too many before"),
    "two titles": (["My model", "pretrained", *GOOD], "lines_shifted", "2 lines too many before"),
    "a line missing": (GOOD[:40] + GOOD[41:], "lines_shifted", "1 line too few before"),
    "two lines missing": (GOOD[:9] + GOOD[11:], "lines_shifted", "2 lines too few before"),
    "the last line missing": (GOOD[:-1], "wrong_line_count", "as if the end were missing"),
    "a line more at the end": ([*GOOD, "Rome"], "wrong_line_count", "as if there were too many at the end"),
}


@pytest.mark.parametrize(("lines", "code", "how"), sampled(SHIFTED.values(), 2), ids=list(SHIFTED))
def test_lines_that_surely_moved_get_half_until_a_person_looks(
    judge: Judge, lines: list[str], code: str, how: str
) -> None:
    form, reach = judge(_text(lines))
    assert (form.status, form.score, form.code) == (Status.FAILED, 0, code), form
    assert (reach.status, reach.score, reach.code) == (Status.REVIEW, Fraction(1, 2), "lines_shifted"), reach
    assert how in reach.evidence["shifted"]


UNKNOWN = {
    "a weak model with a title": ["vanilla", *WEAK],
    "a weak model, a line missing": WEAK[:40] + WEAK[41:],
    "a weak model, the end missing": WEAK[:-1],
    "two runs that differ": [*GOOD, *WEAK],
}


@pytest.mark.parametrize("lines", sampled(UNKNOWN.values(), 2), ids=list(UNKNOWN))
def test_where_alignment_is_a_guess_nothing_is_scored(judge: Judge, lines: list[str]) -> None:
    form, reach = judge(_text(lines))
    assert form.status is Status.FAILED
    assert (reach.status, reach.score) == (Status.REVIEW, 0), reach
    assert form.code == reach.code
    assert reach.code in ("wrong_line_count", "lines_shifted")


def test_two_runs_in_one_file_are_named(judge: Judge) -> None:
    _, reach = judge(_text([*GOOD, *WEAK]))
    assert "600 lines, and birth_dev.tsv asks for 300; were 2 runs written into one file?" in reach.message


UNFINETUNED = {
    "sentences": [f" in Norby, where he was convicted at{n}" for n in range(300)],
    "pieces of sentences": ["was a politician and", "of the town in which she", "and educated at the"] * 100,
    "pads": ["□" * 32, "a□□□□□□□□", "□□□ n □□□"] * 100,
    "mask characters": ["Norby⁇ was a painter ⁇Norby", "⁇ in the⁇", "is ⁇ and"] * 100,
    "mixed, with places among them": ["in Norby, and moved to the", "□" * 9, GOOD[0]] * 100,
}


@pytest.mark.parametrize("lines", sampled(UNFINETUNED.values(), 2), ids=list(UNFINETUNED))
def test_a_model_before_finetuning_is_called_that(judge: Judge, lines: list[str]) -> None:
    _, reach = judge(_text(lines))
    assert reach.score < 1
    (suspicion,) = reach.evidence["suspicions"]
    assert "before finetuning" in suspicion
    assert f"line 1: '{lines[0].strip()[:20]}" in suspicion


HONEST = {
    "places": GOOD,
    "a weak model's": WEAK,
    "places of several words": ["Stow on the Wold", "Saint-Denis", "City of London", "Ashby de la Zouch"] * 75,
    "small letters": [line.lower() for line in GOOD],
    "unknown places": [f"Nowhere {n}" for n in range(300)],
    "a few pads": ["□" * 32] * 20 + GOOD[20:],
}


@pytest.mark.parametrize("lines", sampled(HONEST.values(), 2), ids=list(HONEST))
def test_places_are_not_called_that(judge: Judge, lines: list[str]) -> None:
    form, reach = judge(_text(lines))
    assert reach.evidence["suspicions"] == []
    assert form.status is Status.PASSED, form
