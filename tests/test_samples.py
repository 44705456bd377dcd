"""Every sample submission gets the outcome declared for it, and every check is failed by some sample.

A sample declares, for each problem, the status of each check: `passed`, or for what a person decides `review` and the
provisional score, `review 2/3`. Beside the checks stand the problem's points and, of alternatives, the one chosen.
Prediction files come from a real training run for alice and nora; all others are those with lines exchanged, made up so
that they reach the tier their sample declares.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grader.grading.engine import grade
from grader.grading.randomness import NO_SECRET, Draw
from grader.model import Check, Problem, Report
from grader.proving.declarations import failed_by
from grader.proving.samples import differences
from grader.report.json_report import as_data
from grader.report.points import rounded
from grader.rubric.per_student import for_student
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission
from tests.conftest import DRAW, REPOSITORY, read_yaml, the_rubric

DECLARED: dict[str, Any] = {path.stem: read_yaml(path) for path in sorted(Path(__file__).parent.glob("samples/*.yaml"))}
RUBRICS = sorted({declared["rubric"] for declared in DECLARED.values()})


def _grade(boxes: BoxRunner, sample: str, seed: int = 0) -> Report:
    rubric = the_rubric(f"rubrics/{DECLARED[sample]['rubric']}/rubric.yaml")
    with open_submission(REPOSITORY / "submissions" / sample) as submission:
        draw = Draw(seed, None)
        return grade(for_student(rubric, submission.name, draw), submission, boxes, draw)


@cache
def graded(boxes: BoxRunner, sample: str) -> Report:
    """Once for all tests that ask the same of it."""
    return _grade(boxes, sample)


@pytest.mark.slow
@pytest.mark.parametrize("sample", DECLARED)
def test_sample_gets_its_declared_outcome(torch_boxes: BoxRunner, sample: str) -> None:
    assert differences(DECLARED[sample], graded(torch_boxes, sample)) == []


@pytest.mark.parametrize("rubric", RUBRICS)
def test_every_check_is_failed_by_some_sample(rubric: str) -> None:
    """Of alternatives too. What is missing, or crashed with everything else of its problem, was never judged."""
    own = (declared for declared in DECLARED.values() if declared["rubric"] == rubric)
    failed = {found for declared in own for found in failed_by(declared)}
    loaded = the_rubric(f"rubrics/{rubric}/rubric.yaml")
    assert {(problem.id, check.id) for problem in loaded.problems for check in _all_checks(problem)} <= failed


def _all_checks(problem: Problem) -> list[Check]:
    return [*problem.checks, *(check for one in problem.alternatives for check in one.checks)]


@pytest.mark.parametrize("sample", DECLARED)
def test_declared_points_add_up(sample: str) -> None:
    declared = DECLARED[sample]
    problems = [checks["points"] for checks in declared["problems"].values()]
    assert sum(map(Fraction, map(str, problems))) == pytest.approx(declared["points"], abs=0.005 * len(problems))
    rubric = the_rubric(f"rubrics/{declared['rubric']}/rubric.yaml")
    assert declared["points"] <= rubric.points + sum(problem.points for problem in rubric.problems if problem.optional)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report_and_another_seed_the_same_grade(torch_boxes: BoxRunner) -> None:
    first, again, other = (_timeless(_grade(torch_boxes, "ben", seed)) for seed in (0, 0, 7))
    assert first == again
    assert first != other
    assert first["points"] == other["points"]


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["alice", "ines"])  # one that is right, one whose data set is wrong by chance only
def test_another_seed_gives_the_same_grade(torch_boxes: BoxRunner, sample: str) -> None:
    assert rounded(_grade(torch_boxes, sample, seed=7).points) == DECLARED[sample]["points"]


def test_a_part_graded_alone_gets_the_same_grade(torch_boxes: BoxRunner) -> None:
    rubric = the_rubric("rubrics/nlp-a5/rubric.yaml")
    with open_submission(REPOSITORY / "submissions" / "alice") as submission:
        for part in ("1.b.ii", "1.d.i", "3.a"):  # headings `ii.`, `i.` and `(a)`, which other parts have too
            alone = replace(rubric, problems=tuple(problem for problem in rubric.problems if problem.id == part))
            report = grade(alone, submission, torch_boxes, DRAW)
            read = "written answers were read from answers.md: 1.a.i–2.d, 2.f–3.c"
            assert (report.points, report.notes) == (report.max_points, (read, NO_SECRET))


def _timeless(report: Report) -> dict[str, Any]:
    data = as_data(report)
    for timed in (data, *(check for problem in data["problems"] for check in problem["checks"])):
        del timed["seconds"]
    return data


@pytest.mark.slow
def test_no_sample_gives_away_expected_values_of_hidden_checks(torch_boxes: BoxRunner) -> None:
    for sample in ("ben", "dora"):
        for problem in _grade(torch_boxes, sample).problems:
            for result in problem.checks:
                if result.check.visibility == "hidden":
                    assert "expected" not in result.outcome.message
                    assert "trial" not in result.outcome.message
