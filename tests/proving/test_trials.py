"""How `make mutants` tries a fault: in functions that are loaded already, asking the tests that run its line."""

from __future__ import annotations

import gc
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.changed_functions import Functions, differs_while_loading
from benchmarks.reach import Reach, statement_lines
from tests.conftest import REPOSITORY

CODE = """
from functools import cache

LEAST = 3


class Counted:
    most: int = 9

    def double(self, x, by=2):
        return x * by


@cache
def over(x):
    return [one for one in x if one > LEAST]


def maker():
    def made(x):
        return x + 1
    return made


made = maker()
"""


@pytest.mark.parametrize(
    ("right", "wrong", "loading"),
    [
        ("LEAST = 3", "LEAST = 4", True),
        ("most: int = 9", "most: int = 8", True),
        ("by=2", "by=3", True),
        ("x * by", "x / by", False),
        ("one > LEAST", "one >= LEAST", False),
        ("x + 1", "x - 1", False),
    ],
)
def test_only_what_runs_while_loading_needs_loading_anew(right: str, wrong: str, loading: bool) -> None:
    assert differs_while_loading(CODE, CODE.replace(right, wrong)) is loading
    assert not differs_while_loading(CODE, f"# moved\n\n{CODE}")


@pytest.mark.slow
def test_a_function_that_is_loaded_can_be_changed_wherever_it_is_held(tmp_path: Path) -> None:
    module = _loaded(tmp_path / "held.py")
    gc.freeze()  # as it is when all tests have been collected
    functions = Functions(tmp_path)
    wrong = CODE.replace("x * by", "x / by").replace("one > LEAST", "one >= LEAST").replace("x + 1", "x - 1")
    functions.change("held.py", CODE, f"\n{wrong}")
    assert module.Counted().double(8) == 4
    assert module.over((3, 4)) == [3, 4]
    assert (module.made(1), module.maker()(1)) == (0, 0)


def _loaded(path: Path) -> ModuleType:
    path.write_text(CODE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("held", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_statement_has_all_its_lines_and_a_block_its_head() -> None:
    assert statement_lines("x = 1\ny = f(\n  2,\n)\n", 2) == range(2, 5)
    assert statement_lines("if (a and\n    b):\n  c\n  d\n", 1) == range(1, 3)


@pytest.mark.slow
def test_the_lines_that_each_test_runs_are_kept_until_the_file_changes(tmp_path: Path) -> None:
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "__init__.py").touch()
    (tmp_path / "grader" / "sums.py").write_text("def total(x):\n    return sum(x)\n\n\ndef none():\n    return 0\n")
    (tmp_path / "benchmarks").symlink_to(REPOSITORY / "benchmarks")
    tests = "import subprocess\nimport grader.sums as s\n\n\ndef test_total():\n    assert s.total([1]) == 1\n"
    tests += "\n\ndef test_elsewhere():\n    subprocess.run(['true'])\n"
    (tmp_path / "test_sums.py").write_text(tests)
    Reach(tmp_path, tmp_path / "kept").record(["test_sums.py"], "not slow", 1)
    reach = Reach(tmp_path, tmp_path / "kept")
    assert reach.of("grader/sums.py", [2]) == {"test_sums.py::test_total"}
    assert (reach.of("grader/sums.py", [6]), reach.while_loading("grader/sums.py", [5])) == (set(), True)
    assert {name: one.starts_others for name, one in reach.tests.items()} == {
        "test_sums.py::test_total": False,
        "test_sums.py::test_elsewhere": True,
    }
    (tmp_path / "grader" / "sums.py").write_text("def total(x):\n    return sum(x) + 0\n")
    assert not Reach(tmp_path, tmp_path / "kept").tests
