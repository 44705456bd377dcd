"""The worked examples of CONTRIBUTING.md, in a copy of the grader: they are found, they run, they fail wrong work."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import REPOSITORY
from tests.test_cli import grader
from tests.test_docs import follow

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text()
MAKEFILE = (REPOSITORY / "Makefile").read_text()
RIGHT = """
import numpy as np
def attention(Q, K, V, beta):
    weights = np.exp(beta * K.T @ Q)
    return V @ (weights / weights.sum(0))
"""

pytestmark = pytest.mark.slow  # each example is graded by commands of their own


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the grader in which everything was done that the page says."""
    folder = tmp_path_factory.mktemp("house")
    for room in ("grader", "reference"):
        shutil.copytree(REPOSITORY / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    follow(PAGE, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))  # for the processes that the copy starts
        yield folder


@pytest.fixture
def graded(house: Path, tmp_path: Path) -> Any:
    """graded(rubric, file, text): the one check's result for a submission of one file."""

    def grade(rubric: str, file: str, text: str) -> dict[str, Any]:
        (tmp_path / "hers").mkdir(exist_ok=True)
        (tmp_path / "hers" / file).write_text(text)
        done = grader("run", tmp_path / "hers", "--rubric", f"rubrics/{rubric}/rubric.yaml", "--json", "-", cwd=house)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert report["isolation"]["missing"] == []
        return dict(report["problems"][0]["checks"][0])

    return grade


def test_the_new_check_passes_what_is_right_and_fails_what_is_wrong(graded: Any) -> None:
    assert graded("averages", "attention.py", RIGHT)["points"] == 2
    wrong = graded("averages", "attention.py", RIGHT.replace("weights / weights.sum(0)", "weights"))
    assert (wrong["status"], wrong["points"], wrong["code"]) == ("failed", 0, "outside_the_values")


@pytest.mark.parametrize(
    ("formula", "status", "code"),
    [
        ("M = W + W^T", "passed", "passed"),
        (r"M = W W^\top", "passed", "passed"),
        ("M = W^T W W", "failed", "not_symmetric"),
        ("M = (W + ", "review", "formula_unreadable"),
    ],
)
def test_the_new_prover_judges_a_formula(graded: Any, formula: str, status: str, code: str) -> None:
    judged = graded("symmetry", "answers.md", f"# 1.a\n\n${formula}$\n")
    assert (judged["status"], judged["code"]) == (status, code)


def test_the_new_export_writes_a_file_of_a_real_report(house: Path, tmp_path: Path) -> None:
    ben = REPOSITORY / "submissions" / "ben"
    rubric = REPOSITORY / "rubrics" / "dl-hw3" / "rubric.yaml"
    grader("run", ben, "--rubric", rubric, "--part", "2.2", "--json", tmp_path / "ben.json", cwd=house)
    done = grader("export", tmp_path / "ben.json", "--to", "lines", "--out", tmp_path / "grades.txt", cwd=house)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "grades.txt").read_text() == "ben 5/10\n"


def test_the_new_probe_runs_in_the_box_and_returns_values(graded: Any) -> None:
    assert graded("declared", "attention.py", RIGHT)["status"] == "passed"
    wrong = graded("declared", "attention.py", "def attention(Q, K, V, b): return V")
    assert (wrong["status"], wrong["code"]) == ("failed", "wrong_signature")
    assert "it takes ['Q', 'K', 'V', 'b']" in wrong["message"]


def test_the_new_layer_is_on_in_every_box(house: Path, graded: Any) -> None:
    told = grader("doctor", cwd=house).stdout
    assert re.search(r"│ priority +│ on +│ required │ runs behind everything else on the machine", told)
    assert "get ahead of others: refused" in told
    assert "Verdict: fit for student code" in told
    where = "import os\ndef attention(*given):\n    at = os.getpriority(os.PRIO_PROCESS, 0)\n    raise ValueError(at)\n"
    assert graded("averages", "attention.py", where)["message"].endswith(": 19")


def test_every_example_has_its_tests_and_every_command_of_the_page_exists(house: Path) -> None:
    areas = yaml.safe_load((REPOSITORY / "tests" / "areas.yaml").read_text())
    for path in re.findall(r"^(?:# |--- )(grader/\S+\.py)$", PAGE, re.MULTILINE):
        assert (house / path).is_file()
        assert any(path.startswith(f"{area}/") or path == area for area in areas), f"{path} would have no tests"
    for target in re.findall(r"`make ([\w-]+)", PAGE):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    assert len(re.findall(r"^## A new ", PAGE, re.MULTILINE)) == 5
