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
    "accuracy first": ([SCORE, *GOOD], f"line 1 is no place: '{SCORE}'"),
    "accuracy last": ([*GOOD, SCORE], f"line 301 is no place: '{SCORE}'"),
    "a bare number first": (["0.3533", *GOOD], "line 1 is no place: '0.3533'"),
    "what the course's code prints": ([*PARAMETERS, *GOOD], "lines 1, 2 are no places: 'data has 418352 characters"),
    "a progress bar": (["300it [00:12, 24.5it/s]", *GOOD], "line 1 is no place: '300it [00:12"),
    "a prompt": ([*GOOD[:100], "Accuracy so far: 31 %", *GOOD[100:]], "line 101 is no place: 'Accuracy so far: 31 %'"),
    "a blank line first": (["", *GOOD], "line 1 is blank; leave it out"),
    "a blank line after each": ([part for line in GOOD for part in (line, "")][:-1], "are blank; leave them out"),
    "a blank line within": ([*GOOD[:200], "", *GOOD[200:]], "line 201 is blank"),
    "twice": (GOOD * 2, "the same 300 lines stand there 2 times"),
    "a block twice": ([*GOOD[:120], *GOOD[100:]], "lines 121 to 140 repeat the 20 before"),
    "questions, one missing": (QUESTIONS[:7] + QUESTIONS[8:], "the question of line 8 is not answered"),
    "questions in another order": ([QUESTIONS[1], QUESTIONS[0], *QUESTIONS[2:]], "lines 1, 2 are in another order"),
    "questions and a stray line": ([SCORE, *QUESTIONS], "line 1 is no place"),
}


@pytest.mark.parametrize(("lines", "told"), sampled(MENDED.values(), 2), ids=list(MENDED))
def test_a_mishap_that_leaves_no_doubt_costs_its_form(judge: Judge, lines: list[str], told: str) -> None:
    form, reach = judge(_text(lines))
    assert (form.status, form.score) == (Status.PARTIAL, Fraction(1, 2)), form
    assert told in form.message
    assert (reach.status, reach.score) == (Status.REVIEW, Fraction(1)), reach
    assert reach.evidence["right"] >= 105
    assert told in reach.message


SHIFTED = {
    "a title": (["vanilla", *GOOD], "1 line too many before", "line 1 is 'vanilla'"),
    "a title, the last line cut": (["vanilla", *GOOD[:-1]], "1 line too many before", "line 1 is 'vanilla'"),
    "two titles": (["My model", "pretrained", *GOOD], "2 lines too many before", "line 1 is 'My model'"),
    "a line missing": (GOOD[:40] + GOOD[41:], "1 line too few before", "from about line 4"),
    "two lines missing": (GOOD[:9] + GOOD[11:], "2 lines too few before", "298 lines"),
    "the last line missing": (GOOD[:-1], "299 lines, and birth_dev.tsv asks for 300", "as if the end were missing"),
    "a line more at the end": ([*GOOD, "Rome"], "301 lines", "as if there were too many at the end"),
}


@pytest.mark.parametrize(("lines", "told", "where"), sampled(SHIFTED.values(), 2), ids=list(SHIFTED))
def test_lines_that_surely_moved_get_half_until_a_person_looks(
    judge: Judge, lines: list[str], told: str, where: str
) -> None:
    form, reach = judge(_text(lines))
    assert (form.status, form.score) == (Status.FAILED, 0), form
    assert (reach.status, reach.score) == (Status.REVIEW, Fraction(1, 2)), reach
    assert told in reach.message
    assert where in reach.message
    assert "half is given until a person has looked" in reach.message


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
    assert "not scored" in reach.message


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
    assert "lines read like those of a model before finetuning" in reach.message
    assert f"line 1: '{lines[0].strip()[:20]}" in reach.message


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
    assert "before finetuning" not in reach.message
    assert form.status is Status.PASSED, form
