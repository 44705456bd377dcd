"""Which alternative was handed in: told by what its code defines, then by other files."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from grader.grading.engine import blocked, grade, status_of
from grader.model import Alternative, Check, CheckResult, Outcome, Problem, Rubric, Status, passed
from grader.sandbox import BoxRunner
from grader.submission.alternatives import files_there, handed_in, is_there, undecided, worth_trying
from tests.conftest import DRAW, MakeSubmission


def _check(name: str, points: int = 1) -> Check:
    return Check(name, lambda student, rng: passed("x"), {}, "", Fraction(points))


OWN = _check("own")
ONE = Alternative("one", ("one.py", "first.py"), ("f", "g"), ("one.txt",), ())
TWO = Alternative("two", ("two.py",), ("f",), ("two.txt", "2.txt"), ())
PROBLEM = Problem("1", "One", Fraction(3), (OWN,), alternatives=(ONE, TWO))
BOTH = "def f(): return 1\ndef g(): return 2\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"one.py": BOTH}, ["one"]),
        ({"first.py": BOTH}, ["one"]),
        ({"one.py": "def f(): return 1\n"}, []),  # g is not there
        ({"one.py": "def f(): return 1\ndef g(): raise NotImplementedError\n"}, []),
        ({"one.py": "def f(:", "two.py": BOTH}, ["two"]),
        ({"one.py": BOTH, "two.py": BOTH}, ["one", "two"]),
        ({"one.py": BOTH, "two.py": BOTH, "2.txt": ""}, ["two"]),
        ({"one.py": BOTH, "two.py": BOTH, "2.txt": "", "one.txt": ""}, ["one", "two"]),
        ({"one.py": BOTH, "two.txt": ""}, ["one"]),
        ({"two.txt": ""}, ["two"]),
        ({"notes.md": ""}, []),
    ],
)
def test_the_complete_one_counts_and_other_files_decide_between_two(
    submission: MakeSubmission, files: dict[str, str], found: list[str]
) -> None:
    assert [one.name for one in handed_in(PROBLEM, submission(**files))] == found


@pytest.mark.parametrize(("second", "found"), [("return 2", ["one"]), ("raise NotImplementedError", [])])
def test_of_files_that_are_there_twice_one_has_to_be_written(
    submission: MakeSubmission, second: str, found: list[str]
) -> None:
    text = f"def f(): return 1\ndef g(): {second}\n"
    work = submission(**{"a/one.py": text, "b/one.py": f"{text}# another copy\n"})
    assert [one.name for one in handed_in(PROBLEM, work)] == found


def test_what_is_there_twice_is_there(submission: MakeSubmission) -> None:
    work = submission(**{"a/one.py": "x = 1", "b/one.py": "x = 2"})
    assert [is_there(name, work) for name in ("one.py", "two.py")] == [True, False]
    assert [one.name for one in worth_trying(PROBLEM, work)] == ["one"]
    shared = replace(PROBLEM, alternatives=(ONE, replace(TWO, files=("one.py", "two.py"))))
    assert files_there(shared, work) == ["one.py"]  # told once, though two alternatives may be in it


def test_what_is_undecided_goes_to_a_person_or_is_missing() -> None:
    several = undecided(PROBLEM, (ONE, TWO), lambda outcome, check: outcome)
    none = undecided(PROBLEM, (), lambda outcome, check: outcome)
    assert (several.check.points, several.points, several.outcome.status) == (2, 0, Status.REVIEW)
    assert (several.check.id, several.check.parameters, several.seconds) == ("one_alternative", {}, 0)
    assert several.outcome.code == "several_alternatives"
    assert (none.check.points, none.outcome.status) == (2, Status.MISSING)
    assert none.outcome.message == "none of the alternatives was handed in (one: f, g in one.py; two: f in two.py)"
    assert none.outcome.code == "no_alternative"


def _results(*statuses: str) -> list[CheckResult]:
    scores = {"passed": Fraction(1), "partial": Fraction(1, 2)}
    return [
        CheckResult(
            Check(f"c{number}", OWN.function, {}, "", Fraction(1)),
            Outcome(Status(status), scores.get(status, Fraction(0)), ""),
            scores.get(status, Fraction(0)),
            0.0,
        )
        for number, status in enumerate(statuses)
    ]


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ("", "skipped"),
        ("passed passed", "passed"),
        ("passed failed", "partial"),
        ("partial partial", "partial"),
        ("passed review", "review"),
        ("review ungraded", "ungraded"),
        ("failed missing crashed", "crashed"),
        ("missing failed", "failed"),
        ("missing skipped", "missing"),
        ("skipped", "failed"),
    ],
)
def test_a_problem_is_what_its_checks_make_of_it(statuses: str, status: str) -> None:
    results = _results(*statuses.split())
    points = sum((result.points for result in results), Fraction(0))
    assert str(status_of(results, points, Fraction(len(results)))) == status


@pytest.mark.parametrize(
    ("before", "gates", "needs", "found"),
    [
        ("passed review", ["c0"], ("c1",), None),
        ("failed passed", [], ("c1",), None),
        ("failed passed", [], ("c0", "c1"), "skipped: not tried, because c0 did not pass"),
        ("passed partial", ["c1"], (), "skipped: not tried, because c1 did not pass"),
        ("failed crashed", ["c1"], ("c0",), "skipped: not tried, because c1 did not pass"),
        ("failed ungraded", [], ("c0", "c1"), "ungraded: c1 could not be graded, and this check builds on it"),
    ],
)
def test_a_check_waits_for_gates_and_for_what_it_needs(
    before: str, gates: list[str], needs: tuple[str, ...], found: str | None
) -> None:
    check = Check("last", OWN.function, {}, "", Fraction(1), needs=needs)
    outcome = blocked(check, gates, _results(*before.split()))
    assert (f"{outcome.status}: {outcome.message}" if outcome else None) == found


def test_none_of_the_alternatives_is_missing_and_two_are_for_a_person(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    alternatives = tuple(Alternative(name, (f"{name}.py",), ("f",), (), (_check(name),)) for name in "ab")
    problem = Problem("1", "One", Fraction(3), (_check("own", 2),), alternatives=alternatives)
    rubric = Rubric("r", "R", Fraction(3), (problem,), Path("r.yaml"), "0" * 64)

    def found(*names: str) -> tuple[str, Fraction, list[str]]:
        (result,) = grade(rubric, submission(**dict.fromkeys(names, "def f(): return 1")), boxes, DRAW).problems
        return str(result.status), result.points, [one.check.id for one in result.checks]

    assert found("a.py", "b.py") == ("review", 2, ["one_alternative", "own"])
    assert found("b.py") == ("passed", 3, ["b", "own"])
    assert found("other.py") == ("partial", 2, ["one_alternative", "own"])
