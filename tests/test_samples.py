"""Every sample submission gets the outcome declared for it, and every check is failed by some sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.engine import grade
from grader.model import Report, Status
from grader.report.json_report import as_data
from grader.report.points import rounded
from grader.rubric import load_rubric
from grader.sandbox import BoxRunner
from grader.submission import open_submission
from tests.conftest import REPOSITORY

DECLARED: dict[str, Any] = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted(Path(__file__).parent.glob("samples/*.yaml"))
}
RUBRICS = sorted({declared["rubric"] for declared in DECLARED.values()})


def _grade(boxes: BoxRunner, sample: str, seed: int = 0) -> Report:
    rubric = load_rubric(REPOSITORY / "rubrics" / f"{DECLARED[sample]['rubric']}.yaml")
    with open_submission(REPOSITORY / "submissions" / sample) as submission:
        return grade(rubric, submission, boxes, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("sample", DECLARED)
def test_sample_gets_its_declared_outcome(boxes: BoxRunner, sample: str) -> None:
    report = _grade(boxes, sample)
    found = {
        problem.problem.id: {result.check.id: str(result.outcome.status) for result in problem.checks}
        for problem in report.problems
    }
    assert found == DECLARED[sample]["problems"]
    assert rounded(report.points) == DECLARED[sample]["points"]


@pytest.mark.parametrize("rubric", RUBRICS)
def test_every_check_is_failed_by_some_sample(rubric: str) -> None:
    lost = {Status.FAILED, Status.CRASHED, Status.MISSING, Status.PARTIAL}
    failed = {
        (problem, check)
        for declared in DECLARED.values()
        if declared["rubric"] == rubric
        for problem, checks in declared["problems"].items()
        for check, status in checks.items()
        if status in lost
    }
    loaded = load_rubric(REPOSITORY / "rubrics" / f"{rubric}.yaml")
    assert {(problem.id, check.id) for problem in loaded.problems for check in problem.checks} <= failed


def test_the_same_seed_gives_the_same_report_and_another_seed_the_same_grade(boxes: BoxRunner) -> None:
    first, again, other = (_timeless(_grade(boxes, "ben", seed)) for seed in (0, 0, 7))
    assert first == again
    assert first != other
    assert first["points"] == other["points"]


def _timeless(report: Report) -> dict[str, Any]:
    data = as_data(report)
    for timed in (data, *(check for problem in data["problems"] for check in problem["checks"])):
        del timed["seconds"]
    return data


def test_no_sample_gives_away_expected_values_of_hidden_checks(boxes: BoxRunner) -> None:
    for sample in ("ben", "dora"):
        for problem in _grade(boxes, sample).problems:
            for result in problem.checks:
                if result.check.visibility == "hidden":
                    assert "expected" not in result.outcome.message
                    assert "trial" not in result.outcome.message
