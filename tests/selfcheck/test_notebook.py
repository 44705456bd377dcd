"""`check_notebook()` from within a notebook, with what Jupyter and VS Code tell a kernel about itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.selfcheck.kits import ATTENTION, make_kit

CALL = "from grader import check_notebook\ncheck_notebook()"


def saved(*cells: str) -> str:
    made = [
        {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None} for cell in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made})


def run(folder: Path, call: str, executed: list[str], path: str = "", by: str = "vscode") -> str:
    """What a kernel prints that has executed these cells; IPython's shell is stood in for."""
    told = {"__vsc_ipynb_file__": path} if path and by == "vscode" else {}
    program = f"""
        import sys, types
        shell = types.SimpleNamespace(user_ns={{"In": {["", *executed]!r}, **{told!r}}})
        sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
        {call}
    """
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    if path and by == "jupyter":
        environment["JPY_SESSION_NAME"] = path
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("by", ["vscode", "jupyter", "the only one here"])
def test_it_checks_what_the_notebook_holds(tmp_path: Path, by: str) -> None:
    make_kit(tmp_path, **{"hw.ipynb": saved("import numpy as np", ATTENTION, CALL), "attention.py": None})
    path = {"vscode": str(tmp_path / "hw.ipynb"), "jupyter": "courses/hw.ipynb", "the only one here": ""}[by]
    told = run(tmp_path, "from grader import check_notebook; check_notebook()", [ATTENTION, CALL], path, by)
    assert "2       passed       3 / 3, 1 later" in told
    assert "1.a" not in told
    assert "2 of 3 checks are public" in " ".join(told.split())


@pytest.mark.slow
def test_one_part_can_be_asked_for(tmp_path: Path) -> None:
    make_kit(tmp_path, **{"hw.ipynb": saved(ATTENTION)})
    told = run(tmp_path, "from grader import check_notebook; check_notebook('2')", [ATTENTION])
    assert "2       passed" in told
    wrong = run(tmp_path, "from grader import check_notebook; check_notebook('7')", [ATTENTION])
    assert wrong == "grader: tiny has no part '7'; it has 1.a, 1.b, 2\n"


@pytest.mark.slow
def test_a_notebook_that_is_not_saved_is_told_so(tmp_path: Path) -> None:
    make_kit(tmp_path, **{"hw.ipynb": saved(ATTENTION)})
    newer = ATTENTION.replace("beta *", "2 * beta *")
    told = run(tmp_path, "from grader import check_notebook; check_notebook()", [ATTENTION, newer])
    assert told == (
        "grader: hw.ipynb is not saved: attention differs from what you ran; save it, then run this again\n"
    )
    again = run(tmp_path, "from grader import check_notebook; check_notebook()", [newer, "x = 1", ATTENTION])
    assert "2       passed" in again


@pytest.mark.slow
def test_a_notebook_that_was_never_saved_is_told_so(tmp_path: Path) -> None:
    told = run(tmp_path, "from grader import check_notebook; check_notebook()", [CALL], str(tmp_path / "new.ipynb"))
    assert "new.ipynb is not there: save the notebook first, then run this cell again" in told
    assert told.count("\n") == 1


@pytest.mark.slow
def test_a_folder_that_is_called_like_a_notebook_is_none(tmp_path: Path) -> None:
    (tmp_path / "hw3.ipynb").mkdir()
    told = run(tmp_path, "from grader import check_notebook; check_notebook()", [CALL])
    assert "(none is saved in this folder)" in told
    assert told.count("\n") == 1


@pytest.mark.slow
def test_of_several_it_asks_which(tmp_path: Path) -> None:
    make_kit(tmp_path, **{"a.ipynb": saved(ATTENTION), "b.ipynb": saved("x = 1")})
    told = run(tmp_path, "from grader import check_notebook; check_notebook()", [])
    assert "here are a.ipynb, b.ipynb); say check_notebook(notebook='NAME.ipynb')" in told
    named = run(tmp_path, "from grader import check_notebook; check_notebook(notebook='b.ipynb')", [])
    assert named == "grader: b defines nothing that tiny asks for, such as attention\n"


def test_importing_the_grader_loads_none_of_it() -> None:
    program = "import sys, grader; print([name for name in sys.modules if name.startswith('grader.')])"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
