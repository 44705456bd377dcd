"""What assignments and notebooks import: `from grader import …`."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys

import pytest

import grader
from grader import api, modules
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", api.__all__)
def test_a_public_name_is_there_and_is_that_of_no_other_module(name: str) -> None:
    """Once a module of this name were loaded, `from grader import …` would give that."""
    value = getattr(grader, name)
    assert inspect.ismodule(value) or importlib.util.find_spec(f"grader.{name}") is None


def test_other_names_are_not_there() -> None:
    for name in ("OpenedSubmission", "annotations", "no_such_name", "__path_of__"):
        with pytest.raises(AttributeError, match=f"module 'grader' has no attribute '{name}'"):
            getattr(grader, name)


def test_a_module_is_imported_without_all_that_is_public() -> None:
    program = "import sys; from grader import plugins; print('grader.api' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "False False\n"), done.stderr


def test_the_page_explains_every_name_and_no_other() -> None:
    rows = [line.split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    mentioned = set(named) | set(re.findall(r"`(\w+)`", PAGE))
    public = {*api.__all__, *modules.__all__}
    assert public <= mentioned
    assert set(named) <= public


@pytest.mark.slow
def test_the_program_on_the_page_grades_a_submission() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert re.fullmatch(r"ben [\d.]+ of 100\.0\n", done.stdout), done.stderr
