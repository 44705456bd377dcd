"""What assignments and notebooks import: `from grader import …`."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys

import pytest

import grader
from grader import api


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
