"""Of a rubric's own code, a kit holds what lies in its public room, and no reference."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.cli import app
from grader.grading.engine import grade
from grader.grading.randomness import Draw, draw_at_home
from grader.grading.secret import VARIABLE, Secret
from grader.model import Runner, Status
from grader.release.decisions import decide
from grader.release.handout import Handout
from grader.release.kit import build_kit
from grader.rubric.loading import load_rubric
from grader.rubric.per_student import for_student, numbers_of
from grader.submission.opening import open_submission
from tests.conftest import REPOSITORY, MakeSubmission, the_rubric, write_rubric
from tests.in_process import command
from tests.release.conftest import python_with
from tests.test_own_formula_checks import ANSWERS, OUTCOMES, statuses, write_curves
from tests.test_rubric_functions import CHECKS, PUBLIC, RUBRIC, SOLUTION

pytestmark = pytest.mark.slow


def test_a_kit_holds_inputs_and_values_but_no_reference(
    tmp_path: Path, boxes: Runner, submission: MakeSubmission
) -> None:
    files = {"checks.py": CHECKS, "public.py": PUBLIC}
    kit = build_kit(load_rubric(write_rubric(tmp_path / "shrink", RUBRIC, **files)), tmp_path / "kit")
    fates = {check: fate for _, check, fate in kit.fates}
    later = "after the deadline: "
    assert fates == {
        "returns_an_array": "as it is",
        "matches_reference": "with frozen values",
        "with_your_penalty": f"{later}its inputs, with_a_penalty, are not public",
        "on_aimed_inputs": f"{later}its inputs, aimed, are not public",
        "leaves_inputs_unchanged": "as it is",
        "is_ridge": f"{later}its code is not public",
    }
    folder = tmp_path / "kit" / "rubric" / "shrink"
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.py")] == ["public.py"]
    assert (folder / "public.py").read_text(encoding="utf-8") == PUBLIC
    for source, status in ((SOLUTION, Status.PASSED), (SOLUTION.replace("lam * np", "np"), Status.FAILED)):
        draw, work = Draw(0, None, at_home=True), submission(**{"ridge.py": source})
        report = grade(for_student(load_rubric(folder / "rubric.yaml"), work.name, draw), work, boxes, draw)
        assert report.problems[0].checks[1].outcome.status is status


def test_inputs_that_cannot_be_frozen_stay_with_staff(tmp_path: Path) -> None:
    exact = PUBLIC.replace("rng.normal(size=n), 0.5)", "rng.normal(size=n), Fraction(1, 2))")
    files = {
        "checks.py": CHECKS.replace("lam * np.eye", "float(lam) * np.eye"),
        "public.py": f"from fractions import Fraction\n{exact}",
    }
    rubric = load_rubric(write_rubric(tmp_path / "shrink", RUBRIC, **files))
    later = decide(rubric, Handout(), seed=0)[id(rubric.problems[0].checks[1])].later
    assert later == "its inputs hold an object of type Fraction, which cannot be frozen"


def test_the_self_check_kit_judges_formulas_by_a_public_check_of_the_rubric(tmp_path: Path) -> None:
    done = command("release", write_curves(tmp_path, "public.py"), "--out", tmp_path / "kit")
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "kit" / "wheel").glob("*.whl")
    python = python_with(wheel, tmp_path / "student", torch=False)
    (tmp_path / "kit" / "answers.md").write_text(ANSWERS, encoding="utf-8")
    checked = subprocess.run(
        [python, "-m", "grader", "check", ".", "--json", "report.json"],
        cwd=tmp_path / "kit", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
    assert statuses(tmp_path / "kit" / "report.json") == {**OUTCOMES, "1.c": "review"}  # its key stays with staff


def test_a_kit_tells_students_the_numbers_they_are_graded_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, boxes: Runner
) -> None:
    """Of the assignment that ships with all of it: numbers, choices, a reference and inputs of its own, predictions."""
    kit, rubric = tmp_path / "kit", the_rubric("rubrics/ridge/rubric.yaml")
    secret, who = Secret("a secret of the course"), "ada"
    build_kit(rubric, kit, secret=secret)
    sheet = (kit / "answers.md").read_text(encoding="utf-8")
    assert "What does λ = (your lam) make of it?" in sheet
    assert "(c) its variance grows (d) its variance falls" in sheet
    code = "".join(path.read_text(encoding="utf-8") for path in (kit / "rubric").rglob("*.py"))
    assert "def regressions" in code
    assert "solve" not in code
    monkeypatch.delenv(VARIABLE, raising=False)
    refused = CliRunner().invoke(app, ["parameters", str(kit)])
    assert (refused.exit_code, "student: YOUR-ID" in refused.output) == (2, True)
    declaration = kit / "submission.yaml"
    declaration.write_text(declaration.read_text().replace("student: ''", f"student: {who}"))
    lam, a = numbers_of(who, rubric, Draw(0, secret)).values()
    assert CliRunner().invoke(app, ["parameters", str(kit)]).output == f"ada: lam = {lam}, a = {a}\n"
    at_home = for_student(load_rubric(kit / "rubric" / "ridge" / "rubric.yaml"), who, draw_at_home())
    assert list(at_home.per_student.drawn.values()) == [lam, a]
    with open_submission(REPOSITORY / "submissions" / "rosa") as gold:
        found = grade(at_home, gold, boxes, draw_at_home())
    lost = [one.check.id for problem in found.problems for one in problem.checks if one.outcome.score < 1]
    assert (lost, found.points) == ([], 2.5)
    monkeypatch.setenv(VARIABLE, "a secret of the course")
    staff = CliRunner().invoke(app, ["parameters", "--rubric", str(rubric.path), "--student", who])
    assert staff.output == f"ada: lam = {lam}, a = {a}\n"
