"""What README and the pages beside it show is what one gets: outputs are compared, and commands take what is given."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import Any

import pytest

from grader.cli import Commands
from tests.conftest import REPOSITORY
from tests.in_process import command as grader

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PAGES = (
    README,
    *((REPOSITORY / "docs" / name).read_text(encoding="utf-8") for name in ("box.md", "written_answers.md")),
)
SHOWN = [one for page in PAGES for one in re.findall(r"```console\n\$ grader (.+)\n((?:.*\n)*?)```", page)]
COMMANDS = re.findall(r"^grader (.+?)(?:\s+#.*)?$", README, re.MULTILINE)
LONGEST = 130  # lines: it is read standing


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_the_page_shows(command: str, output: str) -> None:
    done = grader(*shlex.split(command))
    printed = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
    assert printed == output.splitlines()


def takes(command: str) -> None:
    """SystemExit or an error if `grader` would refuse it; nothing is run."""
    name, *arguments = shlex.split(command)
    known: Any = Commands().get_command(None, name)
    assert known is not None, command
    while hasattr(known, "commands"):
        known = known.commands[arguments.pop(0)]
    known.make_context(name, arguments)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_takes_its_options_and_names_what_is_there(command: str) -> None:
    takes(command)
    for word in shlex.split(command):
        if word.startswith("submissions/"):
            assert (REPOSITORY / word).is_dir()


def test_the_demo_ends_with_commands_that_there_are() -> None:
    told = subprocess.run(["make", "--dry-run", "demo"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    lines = [line for line in told.stdout.splitlines() if line.startswith('echo "')]
    assert "build/alice.html" in lines[0]
    named = [match[1] for line in lines if (match := re.search(r'"  grader (.+?)\s+#', line))]
    assert [command.split()[0] for command in named] == ["batch", "review", "release"]
    for command in named:
        takes(command)


def test_the_readme_reads_in_one_sitting_and_its_links_lead_somewhere() -> None:
    assert len(README.splitlines()) <= LONGEST
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 15
    assert not [link for link in links if not (REPOSITORY / link).exists()]
