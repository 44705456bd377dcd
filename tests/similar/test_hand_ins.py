"""Whatever is handed in is compared or named, and nothing in it reaches the page but as words."""

from __future__ import annotations

import json
import os
import random
import re
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from grader.cli import app
from grader.model import Rubric
from grader.notation.word_lists import words
from grader.rubric.loading import find_rubric, load_rubric
from tests.similar.test_pairs import program

HOSTILE = "<img src=x onerror=alert(1)>"
Files = dict[str, str | bytes]
Compare = Callable[..., dict[str, Any]]


@pytest.fixture
def compared(tmp_path: Path) -> Compare:
    """What `grader similar --json` says of these submissions, with the page and stderr beside it."""

    def compare(submissions: dict[str, Files], *options: str, rubric: str = "dl-hw3") -> dict[str, Any]:
        for student, files in submissions.items():
            (tmp_path / "class" / student).mkdir(parents=True)
            for name, content in files.items():
                place = tmp_path / "class" / student / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        asked = ["similar", str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--rubric", rubric, *options]
        result = CliRunner().invoke(app, [*asked, "--json", str(tmp_path / "pairs.json")])
        assert result.exit_code == 0, result.output
        found: dict[str, Any] = json.loads((tmp_path / "pairs.json").read_text())
        return {**found, "page": (tmp_path / "out" / "similar.html").read_text(), "told": result.stderr}

    return compare


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.slow
def test_hostile_files_are_passed_over_or_shown_as_words(compared: Compare) -> None:
    copied = f"{program(1)}\nevil = '{HOSTILE}' + \"\u202e\x1b[31m\"\n{program(2)}"
    found = compared(
        {
            f"one {HOSTILE.replace('/', '')}": {f"{HOSTILE.replace('/', '')}.py": copied},
            "two": {"b.py": copied.replace("x", "y"), "long.py": "x = 1;" * 900_000},
            "binary": {"a.py": os.urandom(5_000), "answers.md": os.urandom(5_000), "c.ipynb": b"\0" * 100},
            "broken": {"a.py": "def f(:\n '''"},
            "empty": {},
            "blank": {"attention.py": ""},
        }
    )
    assert [sorted(pair["students"])[-1] for pair in found["pairs"]] == ["two"]
    assert "two: long.py is too long to be compared" in found["told"]
    page = Elements(found["page"])
    assert not {"img", "script", "onerror", "iframe", "style="} & page.found
    words = "".join(page.words)
    assert f"evil = '{HOSTILE}'" in words
    assert f"one {HOSTILE}" in words
    assert "\x1b" not in found["page"]
    assert "\u202e" not in found["page"]


def test_notebooks_archives_and_files_are_held_against_each_other(compared: Compare, tmp_path: Path) -> None:
    code = program(5)
    cells = [{"cell_type": "code", "source": code, "metadata": {}, "outputs": [], "execution_count": None}]
    notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
    (tmp_path / "class").mkdir()
    with zipfile.ZipFile(tmp_path / "class" / "zipped.zip", "w") as archive:
        archive.writestr("src/work.py", code.replace("b", "bb"))
    others: dict[str, Files] = {f"s{seed}": {"a.py": program(seed)} for seed in range(10, 30)}
    found = compared({**others, "noted": {"hw.ipynb": json.dumps(notebook)}})
    assert [sorted(pair["students"]) for pair in found["pairs"][:1]] == [["noted", "zipped"]]
    assert found["pairs"][0]["shared"][0]["share_of_what_is_rare"] == [1.0, 1.0]


def test_starter_code_that_only_two_have_is_no_pointer_under_any_names(compared: Compare, tmp_path: Path) -> None:
    given = program(7)
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "given.py").write_text(given)
    renamed = [re.sub(r"\b(a|b|c|x\d)\b", rf"{my}_\1", given) for my in ("my", "own")]
    two: dict[str, Files] = {"a": {"given.py": renamed[0]}, "b": {"given.py": renamed[1]}}
    assert not compared(two, "--starter", str(tmp_path / "course"))["pairs"]


def test_the_same_wrong_places_are_pointed_to_with_a_word_about_the_seed(compared: Compare) -> None:
    rubric = load_rubric(find_rubric("nlp-a5"))
    right = _right_places(rubric)

    def predictions(wrong: random.Random) -> str:
        return "\n".join(place if wrong.random() < 0.2 else f"Town {wrong.randrange(99)}" for place in right) + "\n"

    shared = predictions(random.Random("copied"))
    file = "vanilla.pretrain.dev.predictions"
    honest: dict[str, Files] = {f"s{number}": {file: predictions(random.Random(number))} for number in range(20)}
    all_right: dict[str, Files] = {f"r{number}": {file: "\n".join(right)} for number in range(2)}
    found = compared({**honest, **all_right, "x": {file: shared}, "y": {file: shared}}, rubric="nlp-a5")
    assert [sorted(pair["students"]) for pair in found["pairs"]] == [["x", "y"]]
    assert found["pairs"][0]["shared"][0]["kind"] == "predictions"
    assert found["pairs"][0]["strength"] < 0.2  # alone, they put nobody first
    assert "fixed seed in the starter makes honest prediction files equal" in found["page"]


def _right_places(rubric: Rubric) -> list[str]:
    lines = (rubric.folder / "data" / "birth_dev.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[1] for line in lines]


def test_the_questions_own_words_are_no_copied_prose(compared: Compare) -> None:
    rubric = load_rubric(find_rubric("nlp-a5"))
    asked = {
        one.id: str(one.checks[0].parameters["prompt"]) for one in rubric.problems if one.id.startswith(("1.a", "3"))
    }
    names = sorted(words("ada bo cy di ed flo gus hal ivy"))
    own = {name: " ".join(random.Random(name).choices(names, k=20)) for name in names}
    sheets = {name: "".join(f"## {part}\n\n{asked[part]}\n\n{own[name]}.\n\n" for part in asked) for name in names}
    found = compared({name: {"answers.md": sheets[name]} for name in names[:4]}, rubric="nlp-a5")
    assert not found["pairs"]
    assert not found["left_out"]["prose"]["fingerprints"]  # four are too few to be most of a class


def test_students_who_handed_in_together_are_no_pair(compared: Compare, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    metadata = "submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: '1'\n  - :name: Bo\n    :sid: '2'\n"
    (tmp_path / "class" / "submission_metadata.yml").write_text(metadata)
    found = compared({"submission_1": {"a.py": program(1)}})
    assert found["submissions"] == 1
    assert not found["pairs"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["nowhere", "--out", "out"], "there is no such folder of submissions"),
        ([".", "--out", "out", "--rubric", "nope"], "there is no rubric 'nope'"),
        ([".", "--out", "taken", "--rubric", "dl-hw3"], "no page can be written here"),
        ([".", "--out", "out", "--rubric", "dl-hw3", "--starter", "gone"], "there is no such submission"),
        ([".", "--out", "out", "--share", "150%"], "--share takes a share of the class, 0.1% to 100%, such as 10%"),
        ([".", "--out", "out", "--share", "nan"], "such as 10%, not 'nan'"),
        ([".", "--out", "out", "--share", "20%", "--rubric", "nope"], "there is no rubric 'nope'"),
    ],
)
def test_a_wrong_command_is_one_line(
    asked: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alice").mkdir()
    (tmp_path / "taken").write_text("")
    result = CliRunner().invoke(app, ["similar", *asked])
    assert result.exit_code == 2
    assert says in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_a_file_as_long_as_a_person_could_write_is_compared_and_a_longer_one_is_named(compared: Compare) -> None:
    def filled(to: int) -> str:
        return f"{copied}\n{'#' * (to - len(copied) - 2)}\n"

    copied, most = program(9), 256 * 2**10
    found = compared({"a": {"a.py": filled(most)}, "b": {"b.py": copied}, "c": {"c.py": filled(most + 1)}})
    assert [sorted(pair["students"]) for pair in found["pairs"]] == [["a", "b"]]
    assert "c: c.py is too long to be compared" in found["told"]
