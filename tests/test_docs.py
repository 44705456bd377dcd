"""Pages for staff show what one gets: the author's blocks are run one after the other, the TA's commands exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from grader.model import Piece
from grader.prose import Idea, judge
from tests.conftest import REPOSITORY
from tests.in_process import command
from tests.test_cli import grader

AUTHORS = (REPOSITORY / "docs" / "authors.md").read_text()
PHRASINGS = (REPOSITORY / "docs" / "phrasings.md").read_text()
TAS = (REPOSITORY / "docs" / "tas.md").read_text()
COMMANDS = re.findall(r"^grader .+$", TAS, re.MULTILINE)


def follow(page: str, folder: Path) -> None:
    """Write what the page says to write, change what it says to change, run what it says to run, see what it shows."""
    for kind, block in re.findall(r"```(python|yaml|console|diff)\n(.*?)```", page, re.DOTALL):
        if kind == "console":
            shown, _, output = block.partition("\n")
            done = grader(*shlex.split(shown.removeprefix("$ grader ")), cwd=folder)
            printed = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
            assert printed == output.splitlines()
        elif kind == "diff":
            name, _, hunks = block.removeprefix("--- ").partition("\n")
            for hunk in hunks.split("@@\n"):
                _change(folder / name, hunk.splitlines(keepends=True))
        else:
            name, _, text = block.partition("\n")
            (folder / name.removeprefix("# ")).parent.mkdir(parents=True, exist_ok=True)
            (folder / name.removeprefix("# ")).write_text(text)


def _change(file: Path, hunk: list[str]) -> None:
    """Lines that begin with a blank or `-` stand in the file, once; those with a blank or `+` come in their place."""
    old, new = ("".join(line[1:] for line in hunk if line[0] in f" {sign}") for sign in "-+")
    text = file.read_text()
    assert text.count(old) == 1, f"{file.name} has {text.count(old)} times:\n{old}"
    file.write_text(text.replace(old, new))


@pytest.mark.slow
def test_an_author_who_follows_the_page_sees_what_it_shows(tmp_path: Path) -> None:
    follow(AUTHORS, tmp_path)
    kit = tmp_path / "kit"
    assert "doubles_on_other_inputs" not in (kit / "rubric" / "scores" / "rubric.yaml").read_text()
    again = grader("run", "class/alex", "--rubric", kit / "rubric" / "scores" / "rubric.yaml", cwd=tmp_path)
    assert "0 / 1" in again.stdout


@pytest.mark.slow
def test_the_probe_on_the_page_passes_what_is_right(tmp_path: Path) -> None:
    page = AUTHORS[AUTHORS.index("```python\n# gates/probes.py") :]
    follow(page[: page.index("```console\n$ grader run class/kim")], tmp_path)
    gate = tmp_path / "class" / "kim" / "gate.py"
    gate.write_text(gate.read_text().replace("gate * y + (1 - gate) * x", "gate * x + (1 - gate) * y"))
    assert "1 / 1" in grader("run", "class/kim", "--rubric", "gates/rubric.yaml", cwd=tmp_path).stdout


@pytest.mark.slow
def test_an_author_of_ideas_sees_what_the_page_shows(tmp_path: Path) -> None:
    follow(PHRASINGS, tmp_path)


def test_the_page_on_phrasings_says_what_they_find() -> None:
    tried = []
    for phrasing, *lines in (one.splitlines() for block in _texts(PHRASINGS) for one in block.strip().split("\n\n")):
        idea = Idea(id="it", label="it", says=[phrasing])
        for answer, _, text in (line.strip().partition(" ") for line in lines):
            found = judge((Piece("prose", text.strip(), 1),), [idea]).found
            tried.append((answer, bool(found)))
            assert bool(found) == (answer == "yes"), (phrasing, text)
    assert {("yes", True), ("no", False)} == set(tried)


def _texts(page: str) -> list[str]:
    return re.findall(r"```text\n(.*?)```", page, re.DOTALL)


@pytest.mark.parametrize("shown", COMMANDS)
def test_a_command_of_the_page_for_tas_takes_its_options(shown: str) -> None:
    name, *rest = shlex.split(shown)[1:]
    told = command(name, "--help").stdout
    assert all(option in told for option in rest if option.startswith("--"))


def test_the_tests_that_the_threat_model_names_exist() -> None:
    page = (REPOSITORY / "docs" / "security.md").read_text()
    file, named = "", 0
    for path, test in re.findall(r"`(tests/[\w/]+\.py)?(?:::(\w+))?`", page):
        file = path or file
        if path or test:
            assert re.search(
                rf"^def {test}\(" if test else "^def test_", (REPOSITORY / file).read_text(), re.MULTILINE
            ), (
                file,
                test,
            )
            named += 1
    assert named > 20
