"""What students may have lies in `public` and `probes.py`: no other file of a rubric reaches a kit or a sandbox."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from grader.grading.engine import grade
from grader.model import Runner
from grader.release.kit import build_kit
from grader.release.kit_trial import NoKit
from grader.rubric.loading import load_rubric
from grader.submission.opening import open_submission
from tests.conftest import DRAW

pytestmark = pytest.mark.slow  # a kit is made

RUBRIC = """\
rubric: guarded
title: Guarded
points: 2
problems:
  - id: 1.a
    title: What can be seen
    points: 2
    with: {file: work.py}
    checks:
      - {check: reaches_nothing, points: 1}
      - {check: is_for_staff, points: 1}
"""
PUBLIC = '''
from grader import StudentFile, check, failed, passed

from .. import probes


@check
def reaches_nothing(student, rng, *, file: StudentFile):
    """Neither the student's code nor the probe beside it reads a file of the rubric."""
    reached = [*student.call(file, "reached"), *student.probe(probes.reached, file)]
    return failed("; ".join(reached), code="reached") if reached else passed("nothing")
'''
CHECKS = '''
from grader import StudentFile, check, passed

from ..public.of_students import reaches_nothing


@check
def is_for_staff(student, rng, *, file: StudentFile):
    """Staff run it."""
    return passed("staff")
'''
REACHES = '''
def reached(code=None, file=""):
    """Whatever of the rubric can be read, listed or imported from here."""
    import importlib, os, sys

    found = [name for name in sys.modules if name.startswith(("rubric_", "rubrics", "reference", "grader"))]
    for name in ("rubric_guarded.checks", "rubric_guarded.public", "reference", "rubrics", "grader"):
        try:
            importlib.import_module(name)
            found.append(f"imported {name}")
        except ImportError:
            pass
    for path in FILES:
        try:
            with open(path) as opened:
                found.append(f"read {path}: {opened.read()[:20]}")
        except OSError:
            pass
    try:
        found += os.listdir(FOLDER)
    except OSError:
        pass
    return [name for name in found if name not in ALLOWED]
'''
STAFF = ("checks/answers.py", "checks/deep/more.py", "ideas.txt", "data/answers.tsv", "data/notes.md")
STAFF += ("tests/test_it.py", "samples/right/work.py", "public.yaml", "public_notes.md", "checks.md", "release.md")
STUDENTS = ("public/of_students.py", "public/deep/picture.txt", "public/deep/helper.py", "probes.py")


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    """Every file says where it lies."""
    folder = tmp_path / "guarded"
    texts = {"checks/answers.py": CHECKS, "public/of_students.py": PUBLIC}
    names = [*STAFF, *STUDENTS]
    paths = [str(folder / name) for name in (*names, "rubric.yaml")]
    texts["probes.py"] = f"FILES, FOLDER, ALLOWED = {paths}, {str(folder)!r}, ['rubric_guarded.probes']\n{REACHES}"
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# canary of {name}\n{texts.get(name, '')}")
    (folder / "rubric.yaml").write_text(f"# canary of rubric.yaml\n{RUBRIC}")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "work.py").write_text(f"FILES, FOLDER, ALLOWED = {paths}, {str(folder)!r}, []\n{REACHES}")
    return folder / "rubric.yaml"


def test_nothing_else_reaches_a_kit(rubric: Path, tmp_path: Path) -> None:
    build_kit(load_rubric(rubric), tmp_path / "kit")
    every = (path.read_bytes() for path in (tmp_path / "kit").rglob("*") if path.is_file())
    held = b"\n".join(every).decode("utf-8", "replace")
    assert [name for name in (*STAFF, "rubric.yaml") if f"canary of {name}\n" in held] == []
    for name in STUDENTS:
        assert (tmp_path / "kit" / "rubric" / "guarded" / name).read_bytes() == (rubric.parent / name).read_bytes()


@pytest.mark.parametrize("link", ["public/linked.txt", "public/deep/linked", "public/deep/../../probes.py"])
def test_what_a_link_points_to_does_not_either(rubric: Path, tmp_path: Path, link: str) -> None:
    place = rubric.parent / link
    place.unlink(missing_ok=True)
    target = "checks" if link.endswith("linked") else "checks/deep/more.py"
    place.symlink_to(rubric.parent / target)
    with suppress(NoKit):
        build_kit(load_rubric(rubric), tmp_path / "kit")
    shutil.rmtree(rubric.parent)
    every = (path.read_bytes() for path in (tmp_path / "kit").rglob("*") if path.is_file())
    assert b"canary of checks/" not in b"\n".join(every)


def test_nothing_at_all_reaches_a_sandbox_but_the_code_of_probes(rubric: Path, tmp_path: Path, boxes: Runner) -> None:
    with open_submission(tmp_path / "work") as work:
        report = grade(load_rubric(rubric), work, boxes, DRAW)
    outcomes = {one.check.id: (one.outcome.status, one.outcome.message) for one in report.problems[0].checks}
    assert outcomes == {"reaches_nothing": ("passed", "nothing"), "is_for_staff": ("passed", "staff")}
