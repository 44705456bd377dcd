"""Whole functions for 2.1 and 2.2 as students write them: right ones lose nothing, of wrong ones the cause is named."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.grading.engine import grade
from grader.model import Report, Status
from grader.sandbox import BoxRunner
from tests.conftest import DRAW, MakeSubmission, first_of_each, read_yaml, the_rubric

RUBRIC = the_rubric("rubrics/dl-hw3/rubric.yaml")
FILES = {"2.1": "attention.py", "2.2": "multihead.py"}


def _work(name: str) -> list[Any]:
    listed = read_yaml(Path(__file__).parent / "attention_work" / f"{name}.yaml")
    every = [
        pytest.param(part, one, id=f"{part} {title}") for part, works in listed.items() for title, one in works.items()
    ]
    return first_of_each(every, _cause, quick=60)


def _cause(work: Any) -> tuple[str, str]:
    """Of wrong work what is named; all other work is of its own kind."""
    part, one = work.values
    return part, one.get("reason") or one["says"] if isinstance(one, dict) else one


def _graded(boxes: BoxRunner, submission: MakeSubmission, part: str, code: str) -> Report:
    (problem,) = (problem for problem in RUBRIC.problems if problem.id == part)
    return grade(replace(RUBRIC, problems=(problem,)), submission(**{FILES[part]: code}), boxes, DRAW)


def _said(report: Report) -> list[str]:
    checks = report.problems[0].checks
    return [c.outcome.message for c in checks if c.outcome.status not in (Status.PASSED, Status.SKIPPED)]


@pytest.mark.parametrize(("part", "code"), _work("right"))
def test_right_work_loses_nothing(torch_boxes: BoxRunner, submission: MakeSubmission, part: str, code: str) -> None:
    assert _said(_graded(torch_boxes, submission, part, code)) == []


@pytest.mark.parametrize(("part", "work"), _work("wrong"))
def test_the_true_cause_is_named(boxes: BoxRunner, submission: MakeSubmission, part: str, work: dict[str, str]) -> None:
    report = _graded(boxes, submission, part, work["code"])
    said = _said(report)
    assert report.points < report.max_points
    assert any(re.search(work.get("says", ""), one) for one in said), said
    assert work.get("reason") in (None, *(check.outcome.code for check in report.problems[0].checks)), said


@pytest.mark.parametrize(("part", "code"), _work("nearly_right"))
def test_what_is_right_on_most_inputs_gets_no_full_points(
    boxes: BoxRunner, submission: MakeSubmission, part: str, code: str
) -> None:
    report = _graded(boxes, submission, part, code)
    assert report.points < report.max_points


CRASHES = "import numpy as np\ndef attention(Q, K, V, beta):\n    return Q @ K.T @ V[:, :2]"


def test_a_crash_is_told_with_the_sizes_of_its_inputs(boxes: BoxRunner, submission: MakeSubmission) -> None:
    (said,) = _said(_graded(boxes, submission, "2.1", CRASHES))
    assert "raised ValueError at attention.py:3 (Q 4×3, K 4×5, V 2×5, β = " in said


@pytest.mark.parametrize("body", ["raise NotImplementedError", "pass", "...", "'''To do.'''", "H = None\n    return H"])
def test_a_stub_is_not_started(boxes: BoxRunner, submission: MakeSubmission, body: str) -> None:
    report = _graded(boxes, submission, "2.1", f"def attention(Q, K, V, beta):\n    {body}\n")
    assert _said(report) == ["not started: attention in attention.py is still a stub"]
    assert report.problems[0].status is Status.MISSING


def test_what_raises_in_one_place_is_started(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = "def attention(Q, K, V, beta):\n    S = K.T @ Q\n    raise NotImplementedError"
    report = _graded(boxes, submission, "2.1", code)
    assert report.problems[0].status is Status.CRASHED
