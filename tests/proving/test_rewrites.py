"""Right work written otherwise than the gold keeps every point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.grading.engine import grade
from grader.rubric.choosing import only
from grader.sandbox import BoxRunner
from tests.conftest import DRAW, REPOSITORY, MakeSubmission, read_yaml, the_rubric

_FOLDER = Path(__file__).parent / "rewrites"
_FILES: list[dict[str, Any]] = [read_yaml(path) for path in sorted(_FOLDER.glob("*.yaml"))]
REWRITES = [
    pytest.param(written["problem"], written["file"], code, id=f"{written['problem']} {name}")
    for written in _FILES
    for name, code in written["rewrites"].items()
]
_RUBRIC = the_rubric("rubrics/dl-hw3/rubric.yaml")
_GOLD = REPOSITORY / "submissions" / "ada"


def test_there_are_at_least_forty() -> None:
    codes = {code for written in _FILES for code in written["rewrites"].values()}
    assert len(codes) == len(REWRITES) >= 40


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "file", "code"), REWRITES)
def test_a_right_rewrite_loses_nothing(
    torch_boxes: BoxRunner, submission: MakeSubmission, problem: str, file: str, code: str
) -> None:
    files = {path.name: path.read_text() for path in _GOLD.glob("*.py")}
    (graded,) = grade(only(_RUBRIC, [problem]), submission(**{**files, file: code}), torch_boxes, DRAW).problems
    lost = [f"{one.check.id}: {one.outcome.message}" for one in graded.checks if one.outcome.score < 1]
    assert not lost
    assert graded.points == graded.problem.points
