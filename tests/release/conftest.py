"""Kits made once, and a student's Python to use them with."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.grading.secret import Secret
from grader.model import Rubric
from grader.proving.proof import load_proof
from grader.release.handout import read_handout
from grader.release.harness_wheel import harness_wheel
from grader.release.kit import Kit, build_kit
from grader.release.leaks import Withheld, withheld_from
from tests.conftest import the_rubric

SECRET = Secret("0123456789abcdef a course's secret")
RUBRICS = ("dl-hw3", "nlp-a5")
_OURS, _TORCH = ("__editable__", "attention_", "__pycache__"), ("torch", "functorch")


@dataclass(frozen=True)
class Made:
    rubric: Rubric
    kit: Kit
    folder: Path

    @property
    def public_rubric(self) -> Path:
        return self.folder / "rubric" / self.rubric.name / "rubric.yaml"

    def withheld_from(self) -> Withheld:
        made = [self.public_rubric, *self.folder.glob("*.md"), self.folder / "submission.yaml"]
        public = "\n".join(path.read_text(encoding="utf-8") for path in made)
        return withheld_from(self.rubric, public, read_handout(self.rubric), None, SECRET, load_proof(self.rubric))


@pytest.fixture(scope="session")
def kits(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    made: dict[str, Made] = {}

    def kit(name: str) -> Made:
        if name not in made:
            folder = tmp_path_factory.mktemp("kits") / name
            rubric = the_rubric(f"rubrics/{name}/rubric.yaml")
            made[name] = Made(rubric, build_kit(rubric, folder, secret=SECRET), folder)
        return made[name]

    return kit


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The harness, as it lies in every kit."""
    name, content = harness_wheel()
    path = tmp_path_factory.mktemp("wheel") / name
    path.write_bytes(content)
    return path


@pytest.fixture(scope="session")
def students_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the harness and, of this one, only the libraries."""
    return python_with(wheel, tmp_path_factory.mktemp("student"))


def python_with(wheel: Path, folder: Path, *more: Path, torch: bool = True) -> Path:
    """The Python of a new environment in which wheels are installed.

    Installing torch anew takes minutes, so libraries are lent, each by a link: of this project nothing is, nor torch,
    where it is not wanted.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    own = folder / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    lib = Path(subprocess.run([own, "-c", ask], check=True, capture_output=True, text=True).stdout.strip())
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if entry.name == "numpy":  # it loads parts of itself late, and a sandbox reads nothing behind a link
            shutil.copytree(entry, lib / entry.name)
        elif not entry.name.startswith((*_OURS, *(() if torch else _TORCH))):
            (lib / entry.name).symlink_to(entry)
    pip = [sys.executable, "-m", "pip", "--python", own, "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", wheel, *more], check=True)
    return own
