"""`grader release` tries the kit with the reference solution, and refuses if a check in it does not pass."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.in_process import command as grader

pytestmark = pytest.mark.slow  # kits are made

RUBRIC = """\
rubric: doubles
title: Twice
points: 2
problems:
  - id: 1.a
    title: Twice
    points: 2
    with: {file: twice.py, function: twice}
    checks:
      - {check: is_twice_as_much, points: 1}
      - {check: keeps_its_size, points: 1}
"""
CHECKS = """\
from pathlib import Path

import numpy as np

from grader import StudentFile, check, difference, failed, numbers, passed


@check
def is_twice_as_much(student, rng, *, file: StudentFile, function: str):
    '''Its values are twice the input's.'''
    x = rng.normal(size=3)
    found = difference(numbers(student.call(file, function, x), function), x + x)
    return failed(found.summary) if found else passed("right")


@check
def keeps_its_size(student, rng, *, file: StudentFile, function: str):
    '''The shape stays.'''
    size = SIZE
    shape = numbers(student.call(file, function, rng.normal(size=size)), function).shape
    return passed("right") if shape == (size,) else failed(f"{shape}")
"""
READS_A_FILE = 'int((Path(__file__).parent / "size.txt").read_text())'


@pytest.fixture
def course(tmp_path: Path) -> Path:
    folder = tmp_path / "doubles"
    (folder / "samples" / "right").mkdir(parents=True)
    (folder / "samples" / "right" / "twice.py").write_text("def twice(x):\n    return 2 * x\n")
    (folder / "proof.yaml").write_text("gold: right\nmutate: [{problem: 1.a, file: twice.py}]\n")
    (folder / "size.txt").write_text("4")
    (folder / "public.py").write_text(CHECKS.replace("SIZE", "4"))
    (folder / "rubric.yaml").write_text(RUBRIC)
    return tmp_path


def release(course: Path) -> CompletedProcess[str]:
    return grader("release", "doubles/", "--out", "kit", cwd=course)


def test_a_kit_in_which_the_reference_solution_passes_is_made(course: Path) -> None:
    done = release(course)
    assert done.returncode == 0, done.stderr
    assert "The reference solution (right) passes every check in it." in done.stdout


def test_a_reference_solution_that_fails_a_public_check_is_named_with_the_reason(course: Path) -> None:
    (course / "doubles" / "samples" / "right" / "twice.py").write_text("def twice(x):\n    return 2 * x[:1]\n")
    done = release(course)
    assert done.returncode == 2
    assert "  1.a is_twice_as_much: failed: its shape is not 3 as asked\n" in done.stderr
    assert "  1.a keeps_its_size: failed: (1,)\n" in done.stderr
    assert not (course / "kit").exists()


@pytest.mark.parametrize(
    ("size", "raised"),
    [
        (READS_A_FILE, "FileNotFoundError"),
        ('4 if __import__("reference.attention") else 0', "ModuleNotFoundError"),
        ("__import__('rubric_doubles.checks').checks.SIZE", "ModuleNotFoundError"),
    ],
)
def test_a_check_that_works_for_staff_alone_makes_no_kit(course: Path, size: str, raised: str) -> None:
    """It needs a file beside the rubric, or a module, that students do not get."""
    (course / "doubles" / "checks.py").write_text("SIZE = 4\n")
    (course / "doubles" / "public.py").write_text(CHECKS.replace("SIZE", size))
    assert grader("run", "doubles/samples/right", "--rubric", "doubles/", cwd=course).returncode == 0
    done = release(course)
    assert done.returncode == 2
    assert f"1.a keeps_its_size: ungraded: {raised}" in done.stderr
    assert "public.py:" in done.stderr
    assert "is_twice_as_much" not in done.stderr
    assert not (course / "kit").exists()


def test_without_a_proof_the_kit_is_made_and_it_is_said_that_nothing_was_tried(course: Path) -> None:
    (course / "doubles" / "proof.yaml").unlink()
    done = release(course)
    assert done.returncode == 0, done.stderr
    assert "so the kit was neither tried with the reference solution nor searched for it" in done.stderr
    assert "passes every check" not in done.stdout


@pytest.mark.parametrize(
    ("starter", "told"),
    [
        ("def twice(x):\n    return x + x\n", "starter: it answers 1.a as it is"),
        ("def twice(x):\n    size = len(x)\n    raise NotImplementedError(size)\n", ""),
    ],
)
def test_a_starter_may_hold_lines_of_the_solution_but_no_solution(course: Path, starter: str, told: str) -> None:
    (course / "doubles" / "starter").mkdir()
    (course / "doubles" / "starter" / "twice.py").write_text(starter)
    done = release(course)
    assert (done.returncode, told in done.stderr) == (2 if told else 0, True)
