"""The mistakes of the first five minutes, made as a newcomer makes them: one line each, and it says what to do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.in_process import command as grader
from tests.selfcheck.kits import ATTENTION, RUBRIC, SUMMARY, make_kit


def one_line(*arguments: str | Path, cwd: Path) -> str:
    done = grader("check", *arguments, cwd=cwd)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


def test_the_folder_above_the_homework(tmp_path: Path) -> None:
    make_kit(tmp_path / "kit")
    told = one_line(cwd=tmp_path)
    assert told.startswith("grader: . holds no homework, but kit does: `grader check kit`")


def test_a_folder_within_the_homework(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit")
    (kit / "notes").mkdir()
    assert f"but {kit} does: `grader check {kit}`" in one_line(cwd=kit / "notes")


def test_a_folder_with_nothing_to_do_with_it(tmp_path: Path) -> None:
    told = one_line(cwd=tmp_path)
    assert "go to the folder with your answers and code, or name it: `grader check FOLDER`" in told


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    make_kit(tmp_path / "kit")
    assert one_line("kti", cwd=tmp_path) == "grader: kti: there is no such submission; . holds kit"


def test_a_file_instead_of_the_folder(tmp_path: Path) -> None:
    make_kit(tmp_path)
    assert "answers.md is a file; give the folder it is in (.)" in one_line("answers.md", cwd=tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="there it is a path like any other")
@pytest.mark.parametrize("path", ["C:\\Users\\me\\hw", "C:Usersmehw", "d:/hw"])
def test_a_path_of_windows(tmp_path: Path, path: str) -> None:
    told = one_line(path, cwd=tmp_path)
    assert "is a path of Windows, and this is not Windows; in WSL it is '/mnt/" in told


@pytest.mark.slow
def test_no_answers_file(tmp_path: Path) -> None:
    done = grader("check", make_kit(tmp_path, **{"answers.md": None}))
    lines = done.stdout.splitlines()
    assert lines[1].startswith("Form: no answers were handed in; write them in answers.md")
    assert done.returncode == 0


def test_an_old_python() -> None:
    """As far as it can be had here: the version is made to look old before anything of the grader is loaded."""
    program = "import sys; sys.version_info = (3, 9, 18, 'final', 0); import grader"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "grader: Python 3.11 or newer is needed, and this is 3.9; make an environment with a newer one, "
        "`python3.11 -m venv .venv`\n"
    )


@pytest.mark.slow
def test_torch_is_missing(tmp_path: Path) -> None:
    """The rest is checked all the same."""
    title, libraries = "    title: Attention\n", "    libraries: [numpy, torch]\n"
    with_torch = {"rubric/tiny/rubric.yaml": RUBRIC.replace(title, title + libraries)}
    kit = make_kit(tmp_path / "kit", **with_torch)
    program = (
        "import sys, importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'torch' else found(name, *more)\n"
        f"sys.argv = ['grader', 'check', {str(kit)!r}]\n"
        "from grader.start import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    told = " ".join(done.stdout.split())
    install = "pip install uv && uv pip install torch --torch-backend=cpu"
    assert f"Form: torch is not installed, so 2 cannot be checked; `{install}`" in told
    assert "1.a passed 3 / 3" in told
    assert "1 there, to be read after the deadline; 1 not checked, for want of a library." in told
    assert done.stderr == ""


@pytest.mark.slow
def test_a_notebook_with_errors(tmp_path: Path) -> None:
    cells = [("code", "import numpy as np"), ("code", "def broken(:"), ("code", ATTENTION), ("code", "1 / 0")]
    made = [
        {"cell_type": kind, "metadata": {}, "source": text, "outputs": [], "execution_count": None}
        for kind, text in cells
    ]
    text = json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made})
    done = grader("check", make_kit(tmp_path, **{"attention.py": None, "hw.ipynb": text}))
    told = " ".join(done.stdout.split())
    assert "Form: hw.ipynb is read for its definitions and what they need: cell 2 is not valid Python (line 1)" in told
    assert "2 passed 3 / 3" in told
    assert SUMMARY in told


def test_a_rubric_of_another_name(tmp_path: Path) -> None:
    make_kit(tmp_path, **{"submission.yaml": "rubric: tinny\n"})
    assert "submission.yaml: there is no rubric 'tinny'" in one_line(cwd=tmp_path)


@pytest.mark.slow
def test_code_that_fails_at_import(tmp_path: Path) -> None:
    done = grader("check", make_kit(tmp_path, **{"attention.py": ATTENTION.replace("import numpy", "import numpyy")}))
    told = " ".join(done.stdout.split())
    assert "numpyy was not handed in, and no library of that name is installed where this is graded" in told


@pytest.mark.slow
def test_a_terminal_without_greek_letters(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, **{"answers.md": "## 1.a\n\n$q = \\beta k_a$ for large $\\beta$\n\n## 1.b\n\nBoth.\n"})
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "cp1252"}
    command = [sys.executable, "-m", "grader", "check", str(kit)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"q = ? k_a" in b" ".join(done.stdout.split())


@pytest.mark.slow
def test_an_output_that_is_cut_off_says_nothing_more(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = f"{sys.executable} -m grader check {kit} | head -1"
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("docx", "answers.docx cannot be read here, so a person has to; hand in"),
        ("pdf", "answers.pdf is no PDF that can be read: it is empty, cut off or damaged"),
    ],
)
def test_answers_that_are_no_text(tmp_path: Path, ending: str, said: str) -> None:
    done = grader("check", make_kit(tmp_path, **{"answers.md": None, f"answers.{ending}": "PK"}))
    assert f"Form: {said}" in " ".join(done.stdout.split())


def test_an_archive_away_from_its_kit(tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "hw"), "zip", make_kit(tmp_path / "kit"))
    told = one_line(archive, cwd=tmp_path)
    assert told.startswith("grader: submission.yaml: there is no rubric 'tiny'")
    assert "known:" in told or "put it into the folder of your kit, or say --rubric KIT/rubric/tiny/" in told


def test_data_that_are_not_there(tmp_path: Path) -> None:
    make_kit(tmp_path)
    assert one_line("--data", "dta", cwd=tmp_path) == "grader: dta: there is no such folder of data"


@pytest.mark.slow
@pytest.mark.parametrize(("command", "option"), [("pack", "--out"), ("check", "--json"), ("check", "--markdown")])
@pytest.mark.parametrize("file", ["answers.md", "attention.py"])
def test_a_file_named_by_mistake_is_not_written_over(tmp_path: Path, command: str, option: str, file: str) -> None:
    kit = make_kit(tmp_path)
    before = (kit / file).read_bytes()
    done = grader(command, ".", option, file, cwd=kit)
    assert (done.returncode, done.stderr) == (2, f"grader: {file} is your work and would be lost; give another name\n")
    assert (kit / file).read_bytes() == before


@pytest.mark.slow
def test_what_the_kit_brings_is_not_there_for_code_either(tmp_path: Path) -> None:
    """It is not handed in: what needs it would pass here and crash after the deadline."""
    reads = ATTENTION.replace("    scores =", "    open('rubric/tiny/rubric.yaml').read()\n    scores =")
    done = grader("check", make_kit(tmp_path, **{"attention.py": reads}), "--part", "2")
    assert "FileNotFoundError" in done.stdout


@pytest.mark.slow
def test_control_c_while_it_loads(tmp_path: Path) -> None:
    program = "import sys; sys.argv = ['grader', 'check']; from grader.start import main; main()"
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "grader: stopped\n")
