"""Two wheels. The harness alone, which is public, does everything for an assignment of one's own and holds no answer of
ours; with the assignments beside it, it grades from any folder, and a sandbox sees none of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.release.leaks import Withheld, grams, leaks_in
from tests.conftest import REPOSITORY
from tests.release.conftest import Made, python_with
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.long]

ASSIGNMENTS = sorted(path.parent.name for path in (REPOSITORY / "rubrics").glob("*/rubric.yaml"))
TOLD = ("birthplaces.py",)  # the course's own scripts show how files of questions are read and hits are counted
PEEPS = """\
import os, sys

def attention(Q, K, V, beta):
    place = [folder for folder in sys.path if folder.endswith("site-packages")][0]
    for name in ("rubrics/dl-hw3/rubric.yaml", "reference/attention.py", "grader/grading/engine.py"):
        try:
            open(os.path.join(place, name)).read()
        except OSError:
            continue
        raise RuntimeError("read " + name)
    raise RuntimeError(f"nothing could be read in {os.path.basename(place)}")
"""


def run(python: Path, *arguments: str | Path, cwd: Path, code: int = 0) -> str:
    command: list[Any] = [python.with_name("grader"), *arguments]
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "GRADER_SECRET")}
    done = subprocess.run(
        command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return " ".join((done.stdout + done.stderr).split())


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def assignments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for staff, built from a copy: a build leaves files in its source."""
    folder = tmp_path_factory.mktemp("assignments")
    for name in ("assignments", "reference", "rubrics"):
        ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
        shutil.copytree(REPOSITORY / name, folder / name, ignore=ignored)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder]
    subprocess.run([*command, "./assignments"], cwd=folder, check=True)
    (made,) = folder.glob("*.whl")
    return made


# ---- the harness ----


def test_the_harness_is_all_of_grader_and_nothing_else(wheel: Path) -> None:
    names = set(_contents(wheel))
    files = {path for path in (REPOSITORY / "grader").rglob("*") if path.is_file()}
    there = {path.relative_to(REPOSITORY).as_posix() for path in files if "__pycache__" not in path.parts}
    assert {name for name in names if ".dist-info/" not in name} == there
    assert "grader/py.typed" in there
    (entry_points,) = (text.decode() for name, text in _contents(wheel).items() if name.endswith("entry_points.txt"))
    start = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["scripts"]["grader"]
    assert entry_points.split() == ["[console_scripts]", "grader", "=", start]


@pytest.mark.parametrize("rubric", ASSIGNMENTS)
def test_the_harness_holds_no_answer_of_an_assignment(
    kits: Callable[[str], Made], wheel: Path, tmp_path: Path, rubric: str
) -> None:
    """Nothing of the reference, of ideas, labels and keys, nor of the reference solution."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    kept = kits(rubric).withheld_from()
    code = dict(kept.code)
    for path in (REPOSITORY / "reference").rglob("*.py"):
        if path.name not in TOLD:
            code[path.relative_to(REPOSITORY).as_posix()] = grams(path.read_text(encoding="utf-8"))
    assert leaks_in(tmp_path, Withheld(kept.texts, code)) == []


@pytest.fixture(scope="module")
def course(students_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rubric made by the public wheel alone."""
    folder = tmp_path_factory.mktemp("course")
    run(students_python, "new", "pairs", cwd=folder)
    return folder


def test_alone_it_knows_no_assignment(students_python: Path, tmp_path: Path) -> None:
    ask = (
        "import importlib.util as u; from grader.rubric.catalogue import known_checks;"
        "from grader.rubric.locating import rubric_choices;"
        "print(u.find_spec('reference'), u.find_spec('rubrics'), rubric_choices(), *known_checks())"
    )
    done = subprocess.run([students_python, "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split()[:3] == ["None", "None", "{}"]
    assert "matches_reference" in done.stdout


def test_alone_it_proves_an_assignment_of_ones_own(students_python: Path, course: Path) -> None:
    run(students_python, "rubric", "lint", "./pairs/", cwd=course)
    run(students_python, "rubric", "test", "./pairs/", "--sample", "4", cwd=course)


def test_alone_it_grades_a_class(students_python: Path, course: Path) -> None:
    (course / "class").mkdir()
    for sample in ("right", "half", "broken"):
        shutil.copytree(course / "pairs" / "samples" / sample, course / "class" / sample)
    run(students_python, "batch", "class", "--out", "grades", "--rubric", "./pairs/", cwd=course)
    assert {path.stem for path in (course / "grades").glob("*.json")} >= {"right", "half", "broken"}


def test_alone_it_makes_a_kit_that_holds_the_same_wheel(
    students_python: Path, course: Path, wheel: Path, tmp_path: Path
) -> None:
    told = run(students_python, "release", "./pairs/", "--out", "kit", cwd=course)
    assert "The reference solution (right) passes every check in it." in told
    (packed,) = (course / "kit" / "wheel").glob("*.whl")
    assert packed.name == wheel.name
    assert _contents(packed).keys() == _contents(wheel).keys()
    changed = {name for name, content in _contents(packed).items() if content != _contents(wheel)[name]}
    assert {Path(name).name for name in changed} <= {"RECORD"}
    at_home = python_with(packed, tmp_path / "environment")
    assert "not started" in run(at_home, "check", ".", cwd=course / "kit")
    shutil.copytree(course / "pairs" / "samples" / "right", course / "kit", dirs_exist_ok=True)
    points = run(at_home, "check", ".", cwd=course / "kit")
    assert "wrong" not in points
    assert "crashed" not in points


# ---- with the assignments ----


def test_the_assignments_are_the_reference_and_every_rubric(assignments: Path) -> None:
    names = {name for name in _contents(assignments) if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in names} == {"reference", "rubrics"}
    every = (path for folder in ("reference", "rubrics") for path in (REPOSITORY / folder).rglob("*"))
    files = (path.relative_to(REPOSITORY).parts for path in every if path.is_file())
    there = {"/".join(parts) for parts in files if not {"__pycache__", "tests", "conftest.py"}.intersection(parts)}
    assert there <= names


def test_both_grade_from_any_folder_and_a_sandbox_sees_none_of_it(
    wheel: Path, assignments: Path, tmp_path: Path
) -> None:
    python = python_with(wheel, tmp_path / "environment", assignments)
    away = tmp_path / "away"
    shutil.copytree(REPOSITORY / "submissions" / "ada", away / "ada")
    (away / "eve").mkdir()
    (away / "eve" / "attention.py").write_text(PEEPS)
    assert "12 / 12" in run(python, "run", "ada", "--rubric", "dl-hw3", "--part", "1.1.b", "--part", "2.1", cwd=away)
    told = run(python, "run", "eve", "--rubric", "dl-hw3", "--part", "2.1", cwd=away)
    assert "RuntimeError at attention.py" in told
    assert "nothing could be read in site-packages" in told
    linted = run(python, "rubric", "lint", *ASSIGNMENTS, cwd=away)
    assert linted.count("no faults") == linted.count("site-packages") == len(ASSIGNMENTS)
    run(python, "release", "ridge", "--out", "kit", cwd=away)


def test_a_kit_without_torch_checks_all_that_needs_none(
    kits: Callable[[str], Made], wheel: Path, tmp_path: Path
) -> None:
    python = python_with(wheel, tmp_path / "environment", torch=False)
    work = tmp_path / "work"
    shutil.copytree(kits("dl-hw3").folder, work)
    shutil.copytree(REPOSITORY / "submissions" / "ada", work, dirs_exist_ok=True)
    told = run(python, "check", ".", cwd=work)
    install = "pip install uv && uv pip install torch --torch-backend=cpu"
    assert f"Form: torch is not installed, so 2.3, 2.4, 2.5 cannot be checked; `{install}`" in told
    assert "1.3.a passed 1 / 1, 1 later" in told  # formulas
    assert "1.4.a there 3 later" in told  # prose
    assert "2.1 passed 8 / 8, 2 later" in told  # numpy
    assert "3 not checked, for want of a library. 15.5 of the 15.5 points that are checked here." in told
    assert install in (work / "README.md").read_text()
