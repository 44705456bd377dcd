"""In an environment that holds only a kit and its wheel: the same verdicts as here, and no answer to be found."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grader.grading.engine import grade
from grader.grading.randomness import draw_at_home
from grader.model import Status
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission
from tests.conftest import EVERY_CASE, REPOSITORY, read_yaml
from tests.release.conftest import RUBRICS, Made
from tests.waiting import PATIENCE_SECONDS

SAMPLES: dict[str, Any] = {
    path.stem: read_yaml(path) for path in sorted((REPOSITORY / "tests" / "samples").glob("*.yaml"))
}
GOLD = {"dl-hw3": "ada", "nlp-a5": "alice"}
ONLY_READ = ("is_answered", "formula_can_be_read", "costs_can_be_read")  # in place of what is judged later
Kits = Callable[[str], Made]
Found = dict[str, dict[str, dict[str, tuple[str, str, str]]]]

pytestmark = [pytest.mark.slow, pytest.mark.long]


def _run(command: list[Any], cwd: Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "GRADER_SECRET")}
    return subprocess.run(
        command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )


def _found_at_home(made: Made, python: Path, *submissions: Path) -> Found:
    script = Path(__file__).with_name("at_home.py")
    done = _run([python, "-P", script, made.public_rubric, *submissions], made.folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Right work, and wrong work of several kinds: a verdict that differs at home differs by check, not by student.
GRADED_AT_HOME = {"dl-hw3": ("ada", "ben", "kate"), "nlp-a5": ("alice", "hugo", "ines", "sven")}


@pytest.fixture(scope="session")
def at_home(kits: Kits, students_python: Path) -> Callable[[str], Found]:
    """What the samples of a rubric are told at home, asked once: most of it is the time that torch takes to load."""

    @cache
    def found(rubric: str) -> Found:
        samples = [REPOSITORY / "submissions" / name for name in _graded_at_home(rubric)]
        return _found_at_home(kits(rubric), students_python, *samples)

    return found


def _graded_at_home(rubric: str) -> list[str]:
    every = [name for name, declared in SAMPLES.items() if declared["rubric"] == rubric]
    return every if EVERY_CASE else list(GRADED_AT_HOME[rubric])


@pytest.mark.parametrize("rubric", RUBRICS)
def test_every_public_check_says_of_samples_what_the_full_grader_says(
    at_home: Callable[[str], Found], rubric: str
) -> None:
    """The full grader's verdicts are those declared for the samples: tests/test_samples.py holds it to them."""
    found, names = at_home(rubric), _graded_at_home(rubric)
    compared = 0
    for name in names:
        for problem, checks in found[name].items():
            declared = SAMPLES[name]["problems"][problem]
            for check, (status, score, message) in checks.items():
                if check in ONLY_READ:
                    continue
                got = f"{status} {score}" if status == Status.REVIEW else status
                assert got == declared[check], f"{name} {problem} {check}: {message}"
                compared += 1
    assert compared >= 10 * len(names)
    gold = [status for checks in found[GOLD[rubric]].values() for status, _, _ in checks.values()]
    assert set(gold) == {Status.PASSED}


@pytest.mark.parametrize(("rubric", "sample"), [("dl-hw3", "ben"), ("nlp-a5", "ines")])
def test_messages_are_the_same_too(
    at_home: Callable[[str], Found], torch_boxes: BoxRunner, rubric: str, sample: str
) -> None:
    found, whole = at_home(rubric)[sample], load_rubric(REPOSITORY / "rubrics" / rubric / "rubric.yaml")
    with open_submission(REPOSITORY / "submissions" / sample) as opened:
        report = grade(whole, opened, torch_boxes, draw_at_home())
    compared = 0
    for problem in report.problems:
        for result in problem.checks:
            if result.check.id in found[problem.problem.id]:
                assert found[problem.problem.id][result.check.id][2] == result.outcome.message
                compared += 1
    assert compared >= 12


@pytest.mark.parametrize("rubric", RUBRICS)
def test_the_starter_earns_nothing_and_is_told_what_to_do(
    kits: Kits, students_python: Path, torch_boxes: BoxRunner, rubric: str
) -> None:
    made = kits(rubric)
    done = _run([students_python.with_name("grader"), "check", "."], made.folder)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "0 of the " in told
    assert "after the deadline" in told
    assert "not started" in told
    assert "Traceback" not in told + done.stderr
    assert "hidden text" not in told  # of the questions in the sheet
    with open_submission(made.folder) as opened:
        report = grade(made.rubric, opened, torch_boxes, draw_at_home())
    assert report.points == 0
    judged = {result.outcome.status for problem in report.problems for result in problem.checks}
    assert judged <= {Status.MISSING, Status.CRASHED, Status.SKIPPED, Status.PASSED}
    passed = [result for problem in report.problems for result in problem.checks if result.outcome.status == "passed"]
    assert all(result.check.gate for result in passed)


def test_check_finds_the_gold_right_in_a_kit(kits: Kits, students_python: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    shutil.copytree(kits("nlp-a5").folder, work)
    for starter in work.glob("*.py"):
        starter.unlink()
    shutil.copytree(REPOSITORY / "submissions" / "alice", work, dirs_exist_ok=True)
    done = _run([students_python.with_name("grader"), "check", "."], work)
    assert done.returncode == 0, done.stderr
    assert "31.5 of the 31.5 points that are checked here" in " ".join(done.stdout.split())
    assert "all passed" not in done.stdout
