"""Graded inputs follow from the course's secret, those of a kit do not, and nobody learns the secret from either."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.errors import UsageError
from grader.grading.engine import grade
from grader.grading.randomness import NO_SECRET, Draw, draw_at_home
from grader.grading.secret import Secret, read_secret
from grader.model import Check, Limits, Outcome, Problem, Rubric, passed
from grader.report.json_report import to_json
from grader.rubric.loading import find_rubric, load_rubric
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission
from tests.test_cli import grader

ONE, OTHER = Secret("the first course's secret"), Secret("another course's secret")


def _draws(student: Any, rng: np.random.Generator) -> Outcome:
    return passed("drawn", evidence={"number": float(rng.random())})


def _number(boxes: BoxRunner, submission: MakeSubmission, draw: Draw, visibility: Any) -> float:
    check = Check("draws", _draws, {}, "It draws.", Fraction(1), visibility)
    problem = Problem("1", "One", Fraction(1), (check,), Limits(cpu_seconds=5))
    rubric = Rubric("r", "R", Fraction(1), (problem,), Path("r.yaml"), "0" * 64)
    report = grade(rubric, submission(""), boxes, draw)
    assert report.secret == draw.fingerprint
    return float(report.problems[0].checks[0].outcome.evidence["number"])


@pytest.mark.parametrize("visibility", ["public", "hidden"])
def test_graded_inputs_follow_from_the_secret(boxes: BoxRunner, submission: MakeSubmission, visibility: str) -> None:
    draws = [Draw(0, ONE), Draw(0, OTHER), Draw(0, None), Draw(1, ONE), draw_at_home(0)]
    numbers = [_number(boxes, submission, draw, visibility) for draw in draws]
    assert len(set(numbers)) == len(draws)
    assert numbers == [_number(boxes, submission, draw, visibility) for draw in draws]


def test_a_report_says_that_there_was_no_secret(boxes: BoxRunner, submission: MakeSubmission) -> None:
    rubric = Rubric("r", "R", Fraction(0), (), Path("r.yaml"), "0" * 64)
    notes = [grade(rubric, submission(""), boxes, draw).notes for draw in (Draw(0, None), Draw(0, ONE), draw_at_home())]
    assert notes == [(NO_SECRET,), (), ()]


def test_student_code_finds_no_secret(
    boxes: BoxRunner, submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_SECRET", ONE.text)
    work = submission("import os\n\ndef names():\n    return sorted(os.environ)\n")
    with BoxRunner() as fresh, fresh.open(work, Limits(), 0) as box:
        assert not [name for name in box.call("work.py", "names") if "GRADER" in name]


def test_a_report_says_which_secret_but_not_the_secret(boxes: BoxRunner, submission: MakeSubmission) -> None:
    check = Check("draws", _draws, {}, "It draws.", Fraction(1), "hidden")
    problem = Problem("1", "One", Fraction(1), (check,))
    rubric = Rubric("r", "R", Fraction(1), (problem,), Path("r.yaml"), "0" * 64)
    report = grade(rubric, submission(""), boxes, Draw(0, ONE))
    assert ONE.fingerprint in to_json(report)
    assert ONE.text not in to_json(report)
    assert ONE.text not in repr(replace(report))
    assert ONE.text not in repr(ONE)


def test_the_secret_comes_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADER_SECRET", raising=False)
    assert read_secret() is None
    (tmp_path / "secret").write_text(f"{ONE.text}\n")
    monkeypatch.setenv("GRADER_SECRET_FILE", str(tmp_path / "secret"))
    assert read_secret() == ONE
    monkeypatch.setenv("GRADER_SECRET", OTHER.text)
    assert read_secret() == OTHER
    monkeypatch.setenv("GRADER_SECRET", "short")
    with pytest.raises(UsageError, match="shorter than 16"):
        read_secret()
    monkeypatch.delenv("GRADER_SECRET")
    monkeypatch.setenv("GRADER_SECRET_FILE", str(tmp_path / "none"))
    with pytest.raises(UsageError, match="cannot be read"):
        read_secret()


@pytest.mark.slow
@pytest.mark.parametrize("rubric", ["dl-hw3", "nlp-a5"])
def test_every_check_of_a_rubric_asks_something_else_for_another_secret(
    boxes: BoxRunner, submission: MakeSubmission, rubric: str
) -> None:
    loaded = load_rubric(find_rubric(rubric))
    drawing = tuple(
        replace(problem, checks=tuple(_drawing(check) for check in problem.every_check), alternatives=())
        for problem in loaded.problems
    )
    numbers = [_numbers(boxes, submission, replace(loaded, problems=drawing), secret) for secret in (ONE, OTHER, ONE)]
    assert numbers[0] == numbers[2]
    assert len(numbers[0]) > 40
    assert not set(numbers[0].values()) & set(numbers[1].values())


def _drawing(check: Check) -> Check:
    return replace(check, function=_draws, parameters={}, needs=(), gate=False)


def _numbers(boxes: BoxRunner, submission: MakeSubmission, rubric: Rubric, secret: Secret) -> dict[str, float]:
    problems = grade(rubric, submission(""), boxes, Draw(0, secret)).problems
    return {f"{one.problem.id}/{r.check.id}": r.outcome.evidence["number"] for one in problems for r in one.checks}


CHECKS = '''
from grader.model import passed
from grader.registry import check


@check
def draws(student, rng):
    """It draws a number."""
    return passed(f"drew {rng.random()}")
'''
DRAWING = """
rubric: drawing
title: Drawing
points: 2
problems:
  - id: 1
    title: One
    points: 2
    checks:
      - {check: draws, points: 1}
      - {check: draws, id: again, points: 1, visibility: hidden}
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course whose checks say what they drew, with one student."""
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "checks.py").write_text(CHECKS)
    (tmp_path / "course" / "drawing.yaml").write_text(DRAWING)
    (tmp_path / "class" / "sue").mkdir(parents=True)
    (tmp_path / "class" / "sue" / "work.py").write_text("")
    return tmp_path


def _by_run(course: Path) -> tuple[str, str]:
    grader("run", course / "class" / "sue", *_options(course), "--json", course / "run.json")
    return _told(course / "run.json")


def _by_batch(course: Path) -> tuple[str, str]:
    grader("batch", course / "class", "--out", course / "out", "--jobs", "1", *_options(course))
    return _told(course / "out" / "sue.json")


def _on_gradescope(course: Path) -> tuple[str, str]:
    """Where nothing is set in the environment: the zip has to bring it."""
    options = ("--out", course / "a.zip", "--hidden", "after_published")
    grader("gradescope", "build", course / "course" / "drawing.yaml", *options)
    root = Path(tempfile.mkdtemp(dir=course))
    with zipfile.ZipFile(course / "a.zip") as archive:
        archive.extractall(root / "source")
    shutil.copytree(course / "class" / "sue", root / "submission")
    environment = {key: value for key, value in os.environ.items() if key != "GRADER_SECRET"}
    environment |= {"AUTOGRADER_ROOT": str(root), "GRADER_PYTHON": sys.executable}
    subprocess.run(["bash", root / "source" / "run_autograder"], env=environment, capture_output=True, check=True)
    results = json.loads((root / "results" / "results.json").read_text())
    first, second = (test["output"].removeprefix("passed: ") for test in results["tests"])
    return first, second


def _options(course: Path) -> tuple[str, str]:
    return "--rubric", str(course / "course" / "drawing.yaml")


def _told(report: Path) -> tuple[str, str]:
    (problem,) = json.loads(report.read_text())["problems"]
    first, second = (check["message"] for check in problem["checks"])
    return first, second


@pytest.mark.slow
def test_run_batch_and_gradescope_draw_the_same_from_one_secret_and_other_inputs_from_another(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers: list[str] = []
    for secret in (None, ONE, OTHER):
        if secret:
            monkeypatch.setenv("GRADER_SECRET", secret.text)
        drawn = {way(course) for way in (_by_run, _by_batch, _on_gradescope)}
        assert len(drawn) == 1  # whatever the way, the same inputs
        numbers += drawn.pop()
    assert len(set(numbers)) == len(numbers) == 6


@pytest.mark.slow
def test_the_zip_says_whether_the_secret_is_in_it(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = ("gradescope", "build", course / "course" / "drawing.yaml", "--out", course / "a.zip")

    def built(*more: str) -> tuple[str, bool]:
        said = grader(*build, *more).stdout.splitlines()[1]
        with zipfile.ZipFile(course / "a.zip") as archive:
            return said, "secret" in archive.namelist()

    monkeypatch.setenv("GRADER_SECRET", ONE.text)
    assert built() == (f"it holds the course's secret ({ONE.fingerprint}): keep it among staff", True)
    said, inside = built("--unsafe")
    assert "with --unsafe student code could read it" in said
    assert not inside
    monkeypatch.delenv("GRADER_SECRET")
    said, inside = built()
    assert said == "it holds no secret, so anybody can draw the same inputs; set GRADER_SECRET and build it again"
    assert not inside


@pytest.mark.slow
def test_another_secret_grades_a_class_again_and_is_not_mixed_into_a_resumed_batch(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = course / "out"
    batch = ("batch", course / "class", "--out", out, "--jobs", "1", *_options(course))

    def said(*more: str) -> str:
        done = grader(*batch, *more)
        return done.stdout + done.stderr

    assert said().startswith("1 of 1 submissions: 1 graded.")
    assert "no course secret was set" in (out / "index.html").read_text()
    monkeypatch.setenv("GRADER_SECRET", ONE.text)
    assert "begun with no secret, and this is" in said("--resume")
    assert said().startswith("1 of 1 submissions: 1 graded.")
    assert said().startswith("1 of 1 submissions: 1 unchanged.")
    assert f"all inputs were drawn from the secret {ONE.fingerprint}" in (out / "index.html").read_text()
    assert ONE.fingerprint in (out / "sue.html").read_text()
    monkeypatch.setenv("GRADER_SECRET", OTHER.text)
    assert f"begun with the secret {ONE.fingerprint}, and this is {OTHER.fingerprint}" in said("--resume")
    monkeypatch.delenv("GRADER_SECRET")
    assert f"begun with the secret {ONE.fingerprint}, and GRADER_SECRET is not set" in said("--resume")
    assert grader("rescore", out, *_options(course)).returncode == 0  # nothing is drawn for it
    assert json.loads((out / "sue.json").read_text())["secret"] == ONE.fingerprint
    assert ONE.text.encode() not in b"".join(path.read_bytes() for path in out.iterdir())
