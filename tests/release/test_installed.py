"""Installed from its wheel, without the repository: it grades from any folder, and a box sees none of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.release.conftest import Made, python_with
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

SOURCE = ("grader", "reference", "rubrics", "pyproject.toml", "README.md", "LICENSE")
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


def build(source: Path, kind: str, out: Path) -> Path:
    """As pip and build do it, without a network."""
    out.mkdir()
    program = f"import setuptools.build_meta as backend; print(backend.build_{kind}(sys.argv[1]))"
    command = [sys.executable, "-c", f"import sys; {program}", out]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    return out / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist; the one that is built directly holds the same."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in SOURCE:
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(REPOSITORY / name, source / name)
    with tarfile.open(build(source, "sdist", folder / "sdist")) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    made = build(unpacked, "wheel", folder / "from_sdist")
    assert _contents(made) == _contents(build(source, "wheel", folder / "direct"))
    return made


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def run(python: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [python.with_name("grader"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


def test_everything_that_is_not_code_is_in_the_wheel(wheel: Path) -> None:
    held = set(_contents(wheel))
    for package in ("grader", "reference", "rubrics"):
        files = {path for path in (REPOSITORY / package).rglob("*") if path.is_file()}
        there = {path.relative_to(REPOSITORY).as_posix() for path in files if "__pycache__" not in path.parts}
        assert there <= held


def test_it_grades_from_any_folder_and_a_box_sees_none_of_it(wheel: Path, tmp_path: Path) -> None:
    python = python_with(wheel, tmp_path / "environment")
    away = tmp_path / "away"
    shutil.copytree(REPOSITORY / "submissions" / "ada", away / "ada")
    (away / "eve").mkdir()
    (away / "eve" / "attention.py").write_text(PEEPS)
    done = run(python, "run", "ada", "--rubric", "dl-hw3", "--part", "1.1.b", "--part", "2.1", cwd=away)
    assert done.returncode == 0, done.stderr
    assert "12 / 12" in done.stdout
    told = " ".join(run(python, "run", "eve", "--rubric", "dl-hw3", "--part", "2.1", cwd=away).stdout.split())
    assert "RuntimeError at attention.py" in told
    assert "nothing could be read in site-packages" in told
    lines = run(python, "rubric", "lint", "dl-hw3", "nlp-a5", cwd=away).stdout.splitlines()
    assert [line.endswith("points; no faults") for line in lines] == [True, True]
    assert all("site-packages" in line for line in lines)


def test_a_kit_without_torch_checks_all_that_needs_none(kits: Callable[[str], Made], tmp_path: Path) -> None:
    made = kits("dl-hw3")
    (students_wheel,) = made.folder.glob("wheel/*.whl")
    python = python_with(students_wheel, tmp_path / "environment", torch=False)
    work = tmp_path / "work"
    shutil.copytree(made.folder, work)
    shutil.copytree(REPOSITORY / "submissions" / "ada", work, dirs_exist_ok=True)
    done = run(python, "check", ".", cwd=work)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    install = "pip install uv && uv pip install torch --torch-backend=cpu"
    assert f"Form: torch is not installed, so 2.3, 2.4, 2.5 cannot be checked; `{install}`" in told
    assert "1.3.a passed 1 / 1, 1 later" in told  # formulas
    assert "1.4.a there 3 later" in told  # prose
    assert "2.1 passed 8 / 8, 2 later" in told  # numpy
    assert "3 not checked, for want of a library. 15.5 of the 15.5 points that are checked here." in told
    assert install in (work / "README.md").read_text()
