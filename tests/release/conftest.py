"""Kits made once, and a student's Python to use them with."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.model import Rubric
from grader.release.handout import read_handout
from grader.release.kit import Kit, build_kit
from grader.release.withheld import Withheld, withheld_from
from grader.secret import Secret
from grader.yaml_source import read
from tests.conftest import the_rubric

SECRET = Secret("0123456789abcdef a course's secret")
RUBRICS = ("dl-hw3", "nlp-a5")


@dataclass(frozen=True)
class Made:
    rubric: Rubric
    kit: Kit
    folder: Path

    @property
    def public_rubric(self) -> Path:
        return self.folder / "rubric" / self.rubric.path.name

    def withheld_from(self) -> Withheld:
        public = read(self.public_rubric.read_text(encoding="utf-8")).data
        return withheld_from(self.rubric, public, read_handout(self.rubric), None, SECRET)


@pytest.fixture(scope="session")
def kits(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    made: dict[str, Made] = {}

    def kit(name: str) -> Made:
        if name not in made:
            folder = tmp_path_factory.mktemp("kits") / name
            rubric = the_rubric(f"rubrics/{name}.yaml")
            made[name] = Made(rubric, build_kit(rubric, folder, secret=SECRET), folder)
        return made[name]

    return kit


@pytest.fixture(scope="session")
def students_python(kits: Callable[[str], Made], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """An environment that holds a kit's wheel and, of this one, only the libraries.

    Installing torch anew takes minutes, so the libraries are lent: a path in a .pth file adds their folder, but not
    what .pth files in there add, and so not this project.
    """
    pythons: dict[str, Path] = {}

    def python(name: str) -> Path:
        if name not in pythons:
            folder = tmp_path_factory.mktemp("student")
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
            own = folder / "bin" / "python"
            ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
            lib = subprocess.run([own, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
            (Path(lib) / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
            (wheel,) = kits(name).folder.glob("wheel/*.whl")
            pip = [sys.executable, "-m", "pip", "--python", own, "install", "--no-deps", "--no-index", "--quiet"]
            subprocess.run([*pip, "--disable-pip-version-check", wheel], check=True)
            pythons[name] = own
        return pythons[name]

    return python
