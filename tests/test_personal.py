"""Each student has numbers of their own: known to the student, the same in every grading, other with another secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.errors import RubricError
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.grading.secret import Secret
from grader.model import Report, Rubric
from grader.rubric.loading import load_rubric
from grader.rubric.per_student import choices, filled, for_student, numbers_of
from grader.sandbox.host.open_runner import OpenRunner
from grader.submission.opening import OpenedSubmission
from tests.formulas.conftest import in_this_process as in_this_process

RUBRIC = """\
rubric: own
title: Own numbers
points: 3
per_student:
  lam: {from: 0.5, to: 40, step: 0.25}
  n: [-10, 12, 15]
problems:
  - id: 1.a
    title: A number
    points: 1
    checks:
      - {check: gives_the_number, points: 1, value: "<<n>> / (1 + <<lam>>)", prompt: "Shrink <<n>> with λ = <<lam>>."}
  - id: 1.b
    title: A formula
    points: 2
    checks:
      - {check: formula_equals_the_key, points: 2, readings: [{name: g, symbols: {x: scalar}, equals: ["2 <<lam>> x"]}]}
"""
SECRET, NONE = Draw(0, Secret("a secret of the course")), Draw(0, None)
WHO = "ada"


@pytest.fixture
def rubric(tmp_path: Path) -> Rubric:
    (tmp_path / "own.yaml").write_text(RUBRIC, encoding="utf-8")
    return load_rubric(tmp_path / "own.yaml")


def sheet(folder: Path, numbers: dict[str, str], name: str) -> OpenedSubmission:
    lam, n = float(numbers["lam"]), float(numbers["n"])
    folder.mkdir(exist_ok=True)
    (folder / "answers.md").write_text(f"## 1.a\n\n{n / (1 + lam):.5f}\n\n## 1.b\n\n$g = {2 * lam} x$\n")
    return OpenedSubmission(name, folder, 0, ("answers.md",))


def graded(rubric: Rubric, work: OpenedSubmission, draw: Draw) -> Report:
    with OpenRunner() as runner:
        return grade(rubric, work, runner, draw)


def test_numbers_follow_from_student_and_secret_alone(rubric: Rubric) -> None:
    first = numbers_of(WHO, rubric, SECRET)
    assert first == numbers_of(" ADA ", rubric, Draw(7, SECRET.secret)), "neither the seed nor capitals matter"
    others = [numbers_of(WHO, rubric, NONE), numbers_of("ben", rubric, SECRET)]
    others.append(numbers_of(WHO, rubric, Draw(0, Secret("another secret of a course"))))
    assert first not in others
    drawn = [numbers_of(f"s{number}", rubric, SECRET) for number in range(400)]
    assert {one["n"] for one in drawn} == {"-10", "12", "15"}
    assert len({one["lam"] for one in drawn}) > 100


def test_the_next_version_draws_the_same_numbers(rubric: Rubric) -> None:
    assert numbers_of(WHO, rubric, SECRET) == {"lam": "32", "n": "12"}


def test_a_range_ends_where_it_says() -> None:
    assert choices({"from": 1, "to": 2, "step": 0.5}) == ("1", "1.5", "2")


def test_a_number_is_drawn_from_ten_thousand_at_most() -> None:
    assert len(choices({"from": 0, "to": 9_999, "step": 1})) == 10_000
    with pytest.raises(ValueError, match="in at most 10000 steps"):
        choices({"from": 0, "to": 10_000, "step": 1})


@pytest.mark.usefixtures("in_this_process")
def test_students_are_judged_by_their_own_numbers(rubric: Rubric, tmp_path: Path) -> None:
    own, other = (sheet(tmp_path / who, numbers_of(who, rubric, SECRET), WHO) for who in (WHO, "ben"))
    asked = for_student(rubric, WHO, SECRET)
    right, wrong = graded(asked, own, SECRET), graded(asked, other, SECRET)
    assert (right.points, wrong.points) == (3, 0)
    lam, n = numbers_of(WHO, rubric, SECRET).values()
    assert f"numbers drawn for ada: lam = {lam}, n = {n}" in right.notes
    assert for_student(asked, "ben", SECRET) is asked, "what is drawn stays"
    assert (
        asked.problems[0].checks[0].parameters["prompt"] == f"Shrink {filled('<<n>>', {'n': n})} with λ = {lam}."
        or n == "-10"
    )


@pytest.mark.usefixtures("in_this_process")
def test_a_rubric_whose_numbers_were_not_drawn_grades_nobody(rubric: Rubric, tmp_path: Path) -> None:
    work = sheet(tmp_path / WHO, numbers_of(WHO, rubric, NONE), WHO)
    with pytest.raises(AssertionError, match=r"1\.a asks for numbers of this student, and none were drawn"):
        graded(rubric, work, NONE)


@pytest.mark.usefixtures("in_this_process")
def test_what_a_person_decides_rests_on_the_numbers(rubric: Rubric, tmp_path: Path) -> None:
    work = sheet(tmp_path / WHO, numbers_of(WHO, rubric, NONE), WHO)
    hashes = {
        graded(for_student(rubric, WHO, draw), work, draw).problems[0].judged["sha256"] for draw in (NONE, NONE, SECRET)
    }
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("<<n>> / (1", "<<m>> / (1"), "own.yaml:12: gives_the_number: 'per_student' has no 'm'"),
        (
            ("2 <<lam>> x", "2 <<lamb>> x"),
            "own.yaml:17: formula_equals_the_key: 'per_student' has no 'lamb'; did you mean 'lam'",
        ),
        (("[-10, 12, 15]", "[1]"), "own.yaml:6: 'n' is the same for everybody; give at least two numbers"),
        (("[-10, 12, 15]", "[1, two]"), "own.yaml:6: 'n' has 'two', which is no number"),
        (
            ("step: 0.25", "stop: 0.25"),
            "own.yaml:5: 'lam' should be a list of numbers, or {from: 0.5, to: 2, step: 0.25}",
        ),
        (("to: 40", "to: 0.1"), "own.yaml:5: 'lam' should go up from 'from' to 'to' in at most 10000 steps"),
        (("  n: [-10", "  k: [1, 2]\n  n: [-10"), "own.yaml:6: no check asks for '<<k>>'"),
        (("1 + <<lam>>)", "1 + <<lam>>"), "own.yaml:12: gives_the_number: 'value' should be a number or a calculation"),
    ],
)
def test_a_typo_stops_at_load(change: tuple[str, str], complaint: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(RUBRIC.replace(*change), encoding="utf-8")
    with pytest.raises(RubricError) as raised:
        load_rubric(tmp_path / "own.yaml")
    assert complaint in str(raised.value)


def test_a_name_alone_becomes_a_number_and_within_text_a_term() -> None:
    values = {"n": "-10", "p": "1/3", "lam": "0.25"}
    got: Any = filled({"a": "<<n>>", "b": ["<<lam>>", "3 - <<n>>", "<<p>> x"], "c": 1}, values)
    assert got == {"a": -10, "b": [0.25, "3 - (-10)", "(1/3) x"], "c": 1}
    assert choices(["1/3", 2]) == ("1/3", "2")
