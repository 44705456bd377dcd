"""A made class of 200 with six planted pairs: all six are among the first ten, and no starter code is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.made_class.making import PLAIN, Made, make_class
from grader.cli import app

pytestmark = pytest.mark.slow  # 200 submissions are opened and read: three seconds
FIRST = 10


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_class(tmp_path_factory.mktemp("class"), students=200, seed=2026, disguises=PLAIN)


@pytest.fixture(scope="module")
def listed(made: Made) -> dict[str, Any]:
    out = made.submissions.parent / "out"
    asked = ["similar", str(made.submissions), "--out", str(out), "--rubric", "dl-hw3", "--starter", str(made.starter)]
    result = CliRunner().invoke(app, [*asked, "--json", str(out / "pairs.json")])
    assert result.exit_code == 0, result.output
    assert "never verdicts" in result.output
    found: dict[str, Any] = json.loads((out / "pairs.json").read_text())
    return found


def test_all_six_planted_pairs_are_among_the_first_ten(made: Made, listed: dict[str, Any]) -> None:
    ranks = {tuple(sorted(pair["students"])): pair["rank"] for pair in listed["pairs"]}
    assert {label: pair for pair, label in made.planted.items() if ranks.get(pair, FIRST + 1) > FIRST} == {}
    assert len(made.planted) == 6


def test_no_passage_is_starter_code(made: Made, listed: dict[str, Any]) -> None:
    """Five of seven students have the course's trainer, and one of seven under other names."""
    places = {
        place["place"]
        for pair in listed["pairs"]
        for one in pair["shared"]
        for passage in one["passages"]
        for place in passage["places"]
    }
    assert not {place for place in places if "trainer" in place}
    assert "Trainer" not in (made.submissions.parent / "out" / "similar.html").read_text()
    assert not listed["held_by_many"]


def test_the_page_says_what_it_is_and_shows_the_passages_of_both(made: Made, listed: dict[str, Any]) -> None:
    page = (made.submissions.parent / "out" / "similar.html").read_text()
    assert "proves nothing" in page
    assert "What was left out" in page
    assert "<script" not in page
    one, other = listed["pairs"][0]["students"]
    assert f"1. {one} and {other}" in page
    line = next(
        line for line in Path(made.submissions / one / "vit.py").read_text().splitlines() if "nn.Parameter" in line
    )
    assert line.strip() in page
