"""What a rubric's folder holds of code: one package in every process, of which a sandbox gets the probes alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader.grading.engine import grade
from grader.model import Outcome, Runner, Status
from grader.plugins import Plugin
from grader.rubric.loading import load_rubric
from tests.conftest import DRAW, MakeSubmission, write_rubric

RUBRIC = """\
rubric: doubles
title: Doubles
points: 1
problems:
  - id: 1.a
    title: Twice
    points: 1
    with: {file: work.py, function: twice}
    checks:
      - {check: doubles, points: 1}
"""
CHECKS = '''
"""Whether it doubles."""

from grader import StudentFile, check, failed, passed

from ..probes import values_and_files
from ..public.numbers import NUMBERS
from .answers import doubled


@check
def doubles(student, rng, *, file: StudentFile, function: str):
    """It gives twice what it got."""
    found = student.probe(values_and_files, file, function=function, numbers=NUMBERS, folder=__file__)
    if found["readable"]:
        return failed("the sandbox reads " + found["readable"], code="readable")
    return passed("right") if found["values"] == doubled(NUMBERS) else failed(f"got {found['values']}", code="values")
'''
PROBES = '''
"""Calls it for several numbers, and tries to read the rubric's own files."""

import os
import sys


def values_and_files(code, file, *, function, numbers, folder):
    try:
        readable = "".join(os.listdir(os.path.dirname(folder)))
    except OSError:
        readable = "".join(name for name in sys.modules if name.startswith(("rubric_", "reference")))
    called = code.attribute(file, function)
    return {"values": [code.call(called, [number]) for number in numbers], "readable": readable}
'''
FILES = {
    "checks/judging.py": CHECKS,
    "checks/answers.py": "def doubled(numbers):\n    return [2 * number for number in numbers]\n",
    "public/numbers.py": "NUMBERS = [1, 2, 3]\n",
    "probes.py": PROBES,
}


def judged(rubric: Path, runner: Runner, submission: MakeSubmission, code: str) -> Outcome:
    report = grade(load_rubric(rubric), submission(code), runner, DRAW)
    return report.problems[0].checks[0].outcome


def test_a_rubrics_probe_runs_beside_the_students_code_and_its_checks_stay_outside(
    tmp_path: Path, boxes: Runner, submission: MakeSubmission
) -> None:
    rubric = write_rubric(tmp_path / "doubles", RUBRIC, **FILES)
    for code, status, message in (
        ("def twice(x): return x + x", Status.PASSED, "right"),
        ("def twice(x): return x * x", Status.FAILED, "got [1, 4, 9]"),
        ("def twice(): return 2", Status.CRASHED, "twice"),
        ("def twic(x): return 2 * x", Status.MISSING, "twice"),
    ):
        outcome = judged(rubric, boxes, submission, code)
        assert (outcome.status, message in outcome.message) == (status, True), outcome.message


@pytest.mark.parametrize("name", FILES)
def test_code_that_was_changed_is_loaded_again(
    name: str, tmp_path: Path, boxes: Runner, submission: MakeSubmission
) -> None:
    rubric = write_rubric(tmp_path / "doubles", RUBRIC, **FILES)
    before = load_rubric(rubric)
    judged(rubric, boxes, submission, "def twice(x): return x + x")
    changes = {"checks/judging.py": ('"right"', '"good!"'), "checks/answers.py": ("2 *", "3 *")}
    changes |= {"public/numbers.py": ("3]", "0]"), "probes.py": ("[number]", "[-number]")}
    write_rubric(tmp_path / "doubles", RUBRIC, **{name: FILES[name].replace(*changes[name])})
    after = judged(rubric, boxes, submission, "def twice(x): return x + x")
    assert (after.status, after.message) == {
        "checks/judging.py": (Status.PASSED, "good!"),
        "checks/answers.py": (Status.FAILED, "got [2, 4, 6]"),
        "public/numbers.py": (Status.PASSED, "right"),
        "probes.py": (Status.FAILED, "got [-2, -4, -6]"),
    }[name]
    assert load_rubric(rubric).sha256 != before.sha256


def test_rubrics_whose_folders_have_one_name_are_two(tmp_path: Path, boxes: Runner, submission: MakeSubmission) -> None:
    one = write_rubric(tmp_path / "one" / "doubles", RUBRIC, **FILES)
    changed = {"checks/answers.py": FILES["checks/answers.py"].replace("2", "3")}
    other = write_rubric(tmp_path / "other" / "doubles", RUBRIC, **FILES | changed)
    for rubric, code in ((one, "x + x"), (other, "3 * x"), (one, "x + x")):
        assert judged(rubric, boxes, submission, f"def twice(x): return {code}").status is Status.PASSED


def test_what_lies_elsewhere_in_the_folder_is_no_code_of_the_rubric(tmp_path: Path) -> None:
    more = dict.fromkeys(("notes.py", "tests/test_it.py", "starter/work.py", "samples/a/work.py"), "")
    plugin = Plugin(write_rubric(tmp_path / "a-b.c", RUBRIC, **FILES | more).parent)
    package = "rubric_a_b_c"
    modules = ("checks.answers", "checks.judging", "public.numbers")
    assert list(plugin.modules) == [f"{package}.{name}" for name in modules]
    assert [path.name for path in plugin.files][-1] == "probes.py"
    rooms = {name: plugin.room_of(f"{package}.{name}") for name in ("checks.judging", "public.numbers", "probes")}
    assert rooms == {"checks.judging": "checks", "public.numbers": "public", "probes": None}
    assert plugin.room_of("grader.checks.prose") is None
    assert not [name for name in sys.modules if name.startswith(package)], "nothing is loaded to say so"
