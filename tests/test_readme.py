"""What the README shows is what one gets: its commands are run and its outputs compared, its code is used."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.in_process import command as grader

README = (REPOSITORY / "README.md").read_text()
SHOWN = re.findall(r"```console\n\$ grader (.+)\n((?:.*\n)*?)```", README)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_the_readme_shows(command: str, output: str) -> None:
    done = grader(*shlex.split(command))
    printed = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
    assert printed == output.splitlines()


@pytest.mark.slow
def test_the_new_check_and_the_new_problem_work_as_written(tmp_path: Path) -> None:
    (check,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (rubric,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    course = tmp_path / "course"
    course.mkdir()
    (course / "checks.py").write_text(check)
    (course / "linear.yaml").write_text(rubric)
    assert "5 / 5" in grader("run", "submissions/ada", "--rubric", course / "linear.yaml").stdout
    squares = tmp_path / "squares"
    squares.mkdir()
    (squares / "attention.py").write_text("def attention(Q, K, V, beta): return (V @ K.T @ Q) ** 2\n")
    told = " ".join(grader("run", squares, "--rubric", course / "linear.yaml").stdout.split())
    assert "0 / 5" in told
    assert "with 3 V off by" in told
