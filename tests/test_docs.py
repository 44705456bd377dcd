"""Pages for staff show what one gets: the author's blocks are run one after the other, the TA's commands exist."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from grader.model import Piece
from grader.prose import Idea, judge
from grader.release.handout import Handout
from grader.rubric.yaml_source import read
from tests.conftest import REPOSITORY
from tests.in_process import command
from tests.test_cli import grader

AUTHORS = (REPOSITORY / "docs" / "authors.md").read_text()
HOW_TO = (REPOSITORY / "docs" / "how_to.md").read_text()
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
    rubric = tmp_path / "kit" / "rubric" / "geometry" / "rubric.yaml"
    assert "matches_on_hidden_inputs" not in rubric.read_text()
    again = grader("run", "class/alex", "--rubric", rubric, cwd=tmp_path)
    assert "1 / 2" in again.stdout, again.stderr


BATCH = """
import torch


def batch(texts, limit=None):
    texts = [text[:limit] for text in texts]
    longest = sorted(texts, key=len, reverse=True)[0] if texts else None
    return {"longest": longest, "lengths": torch.tensor([float(len(text)) for text in texts])}
"""
ROWS = """
import numpy as np


def attention(Q, K, V):
    E = Q @ K.T / Q.shape[1] ** 0.5
    A = np.exp(E - E.max(axis=1, keepdims=True))
    return A @ V / A.sum(axis=1, keepdims=True)
"""
TIED = """
from torch import nn


class Tied(nn.Linear):
    pass
"""
ANSWERS = """
## 1.a
$g = X^\\top X w - X^\\top y + \\lambda w$

## 1.b
w = 0,96

## 1.c
(b)

## 1.d
All its eigenvalues are positive, at least λ.
"""


@pytest.mark.slow
def test_each_recipe_gives_what_is_right_all_points(tmp_path: Path) -> None:
    follow(HOW_TO, tmp_path)
    gate = (tmp_path / "class" / "kim" / "gate.py").read_text()
    check = "{check: has_so_many_numbers, points: 1, file: tied.py, name: Tied, arguments: [2, 3], count: 9}"
    problem = f"{{id: '1', title: Tied, points: 1, libraries: [numpy, torch], checks: [{check}]}}"
    (tmp_path / "tying" / "rubric.yaml").write_text(f"{{rubric: tying, title: Tied, points: 1, problems: [{problem}]}}")
    works = {
        "batching": {"batch.py": BATCH},
        "gates": {"gate.py": gate.replace("x, gate * x + (1 - gate) * y)", "gate * x + (1 - gate) * y, x)")},
        "tying": {"tied.py": TIED},
        "rows": {"attention.py": ROWS},
        "quiz": {"answers.md": ANSWERS},
    }
    for rubric, files in works.items():
        work = tmp_path / f"class_{rubric}" / "bo"  # whose numbers 0.96 follows from
        work.mkdir(parents=True)
        for name, text in files.items():
            (work / name).write_text(text)
        done = grader("run", work, "--rubric", f"./{rubric}", "--json", work / "report.json", cwd=tmp_path)
        report = json.loads((work / "report.json").read_text())
        assert report["points"] == report["max_points"], done.stdout + done.stderr


def test_the_page_names_every_key_of_release_yaml_and_its_example_is_one() -> None:
    table = HOW_TO[HOW_TO.index("| key of `release.yaml`") :].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(Handout.model_fields)
    (example,) = re.findall(r"```yaml\n# geometry/release.yaml\n(.*?)```", HOW_TO, re.DOTALL)
    assert Handout.model_validate(read(example).data).model_fields_set == set(Handout.model_fields)


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
    for path, test in re.findall(r"`((?:tests|rubrics)/[\w/-]+\.py)?(?:::(\w+))?`", page):
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
