"""Work for another assignment goes to a person with one note; whatever else earned nothing is not accused of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from grader.grading.engine import status_of
from grader.model import CheckResult, Isolation, Outcome, ProblemResult, Report, Status, failed, passed
from grader.rubric.loading import load_rubric
from grader.submission.opening import OpenedSubmission, open_submission
from grader.submission.wrong_assignment import with_other_assignment
from tests.conftest import REPOSITORY, the_rubric

NOTHING = Outcome(Status.MISSING, Fraction(0), "it was not handed in")


def _report(rubric: str, *, right: int = 0, only: int | None = None) -> Report:
    """Nothing found but for the first parts, which are right."""
    whole = the_rubric(f"rubrics/{rubric}/rubric.yaml")
    problems = []
    for number, problem in enumerate(whole.problems[:only]):
        outcome = passed("right") if number < right else NOTHING if number % 2 else failed("wrong")
        if problem.optional:
            outcome = NOTHING
        checks = [CheckResult(one, outcome, one.points * outcome.score, 0.0) for one in problem.every_check]
        points = problem.points * outcome.score
        problems.append(ProblemResult(problem, status_of(checks, points, problem.points), points, tuple(checks)))
    narrowed = replace(whole, problems=tuple(one.problem for one in problems))
    return Report("s", narrowed, 0, tuple(problems), Isolation((), ()), 0.0, ("a note",))


@contextmanager
def _sample(name: str, *, declared: str | None = None) -> Iterator[OpenedSubmission]:
    with open_submission(REPOSITORY / "submissions" / name) as opened:
        yield replace(opened, rubric=declared)


@pytest.mark.parametrize(
    ("sample", "rubric", "other"),
    [
        ("ada", "nlp-a5", "dl-hw3"),
        ("carol", "nlp-a5", "dl-hw3"),
        ("alice", "dl-hw3", "nlp-a5"),
        ("gwen", "dl-hw3", "nlp-a5"),
    ],
)
def test_work_that_fits_another_assignment_goes_to_a_person(sample: str, rubric: str, other: str) -> None:
    with _sample(sample) as work:
        found = with_other_assignment(_report(rubric), work)
    assert found.notes[0].startswith(f"this looks like work for {other} (")
    assert found.notes[1:] == ("a note",)
    assert {one.status for one in found.problems if not one.problem.optional} == {Status.REVIEW}
    assert {one.status for one in found.problems if one.problem.optional} <= {Status.MISSING}
    assert (found.points, found.provisional) == (0, True)


@pytest.mark.parametrize(
    ("sample", "rubric"), [("alice", "nlp-a5"), ("ada", "dl-hw3"), ("stub", "nlp-a5"), ("kira", "nlp-a5")]
)
def test_work_for_this_assignment_is_graded_as_it_is_however_little_it_earns(sample: str, rubric: str) -> None:
    report = _report(rubric)
    with _sample(sample, declared=rubric) as work:
        assert with_other_assignment(report, work) == report


def test_what_is_nearly_empty_is_not_accused(tmp_path: Path) -> None:
    report = _report("nlp-a5")
    (tmp_path / "attention.py").write_text("def attention(Q, K, V, beta):\n    return V\n")
    for declared, note in ((None, ()), ("dl-hw3", ("submission.yaml names dl-hw3, and this was graded as nlp-a5; ",))):
        with open_submission(tmp_path) as work:
            found = with_other_assignment(report, replace(work, rubric=declared))
        assert [one.startswith(begin) for one, begin in zip(found.notes, note, strict=False)] == [True for _ in note]
    (tmp_path / "attention.py").unlink()
    with open_submission(tmp_path) as work:
        found = with_other_assignment(report, replace(work, rubric="dl-hw3"))
    assert found.notes[0] == "submission.yaml names dl-hw3, and this was graded as nlp-a5"
    assert found.problems == report.problems, "nothing was handed in for either"


def test_what_earned_something_stays_and_a_wrong_name_alone_is_only_said() -> None:
    report = _report("nlp-a5", right=9)
    with _sample("ada") as work:
        assert with_other_assignment(report, work) == report
    with _sample("alice", declared="dl-hw3") as work:
        found = with_other_assignment(report, work)
    assert found.notes[0] == "submission.yaml names dl-hw3, and this was graded as nlp-a5"
    assert found.problems == report.problems
    with _sample("ada", declared="dl-hw3") as work:
        found = with_other_assignment(report, work)
    assert found.problems[:9] == report.problems[:9]
    assert found.points == report.points
    with _sample("ada", declared="no-such-rubric") as work:
        assert with_other_assignment(report, work) == report


def test_a_rubric_that_asks_for_little_of_much_accuses_nobody() -> None:
    rubric = the_rubric("tests/rubrics/small-class/rubric.yaml")
    failing = [ProblemResult(one, Status.FAILED, Fraction(0), ()) for one in rubric.problems]
    report = Report("s", rubric, 0, tuple(failing), Isolation((), ()), 0.0)
    with _sample("carol") as work:
        assert with_other_assignment(report, work) == report


@pytest.mark.parametrize(("files", "accused"), [(("b.py",), False), (("b.py", "c.py"), True)])
def test_whoever_handed_in_half_of_what_is_asked_for_meant_this(
    tmp_path: Path, files: tuple[str, ...], accused: bool
) -> None:
    problem = "  - {{id: '{0}', title: T, points: 1, with: {{file: {0}, function: attention}}, checks: [{1}]}}\n"
    check = "{check: ignores_the_order_of_pairs, points: 1}"
    problems = "".join(problem.format(file, check) for file in ("attention.py", *files))
    (tmp_path / "r.yaml").write_text(f"rubric: r\ntitle: R\npoints: {1 + len(files)}\nproblems:\n{problems}")
    rubric = load_rubric(tmp_path / "r.yaml")
    failing = [ProblemResult(one, Status.FAILED, Fraction(0), ()) for one in rubric.problems]
    report = Report("s", rubric, 0, tuple(failing), Isolation((), ()), 0.0)
    with _sample("carol") as work:
        found = with_other_assignment(report, work)
    assert (found != report) is accused
    assert any("looks like work for dl-hw3" in note for note in found.notes) is accused


def test_a_few_parts_graded_alone_say_nothing_about_the_assignment() -> None:
    report = _report("nlp-a5", only=3)
    with _sample("ada") as work:
        assert with_other_assignment(report, work) == report
