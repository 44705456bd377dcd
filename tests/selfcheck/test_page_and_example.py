"""The page for students shows what one gets, and the example of a workflow is one."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from grader.selfcheck.commands import check
from tests.conftest import REPOSITORY
from tests.in_process import command as grader
from tests.selfcheck.kits import SUMMARY, make_kit

PAGE = (REPOSITORY / "docs" / "students.md").read_text()
EXAMPLE = yaml.safe_load((REPOSITORY / "docs" / "examples" / "self-check.yml").read_text())
(CONSOLE,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
SHOWN = re.findall(r"^\$ grader (.+)\n((?:(?!\$ ).*\n)*)", CONSOLE, re.MULTILINE)


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_the_page_shows(command: str, output: str) -> None:
    done = grader(*shlex.split(command))
    assert [line.rstrip() for line in done.stdout.splitlines()] == [line.rstrip() for line in output.splitlines()]


def test_the_page_names_only_options_there_are() -> None:
    named = set(re.findall(r"grader check (--\w+)", PAGE))
    assert named == {"--watch", "--part", "--html"}
    assert {name.removeprefix("--") for name in named} <= set(check.__annotations__)


def test_the_workflow_is_laid_out_as_github_reads_it() -> None:
    assert EXAMPLE[True] == ["push"]  # YAML 1.1 takes `on` for a truth value, and GitHub does not
    (job,) = EXAMPLE["jobs"].values()
    assert job["runs-on"] == "ubuntu-latest"
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert EXAMPLE["permissions"] == {"contents": "read"}


@pytest.mark.slow
def test_its_last_step_writes_the_summary(tmp_path: Path) -> None:
    (job,) = EXAMPLE["jobs"].values()
    program, *arguments = shlex.split(job["steps"][-1]["run"])
    assert program == "grader"
    summary = tmp_path / "summary.md"
    done = grader(
        *(one.replace("$GITHUB_STEP_SUMMARY", str(summary)) for one in arguments), cwd=make_kit(tmp_path / "kit")
    )
    assert done.returncode == 0, done.stderr
    assert SUMMARY in summary.read_text()
