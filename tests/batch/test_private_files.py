"""Grades are not for other users of the machine, whatever the umask."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.batch.classes import RUBRIC, grader, make_class

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_gradebook_pages_and_exports_are_for_their_owner_alone(tmp_path: Path) -> None:
    handed_in, grades, out = tmp_path / "handed-in", tmp_path / "grades", tmp_path / "out"
    make_class(handed_in, 2)
    out.mkdir()
    for words in (
        ("batch", handed_in, "--out", grades, "--rubric", RUBRIC),
        ("override", "s000", "1.a", "1", "--by", "Tess", "--why", "right", "--out", grades),
        ("report", grades),
        ("export", grades, "--to", "csv", "--out", out / "grades.csv"),
        ("export", grades, "--to", "gradescope", "--out", out / "several"),
        ("similar", handed_in, "--out", out / "similar", "--rubric", RUBRIC, "--json", out / "pairs.json"),
        ("run", handed_in / "s000", "--rubric", RUBRIC, "--html", out / "a.html", "--json", out / "a.json"),
    ):
        done = grader(*words)
        assert done.returncode == 0, done.stderr
    places = [grades, *grades.rglob("*"), *out.rglob("*")]
    assert {"gradebook.db", "index.html", "grades.csv", "similar.html", "pairs.json"} <= {one.name for one in places}
    open_to_others = [one for one in places if one.stat().st_mode & 0o077]
    assert open_to_others == []


def test_modes_that_somebody_chose_stay(tmp_path: Path) -> None:
    """A TA may share the folder with a group."""
    make_class(tmp_path / "handed-in", 1)
    grades = tmp_path / "grades"
    grades.mkdir(0o750)
    assert grader("batch", tmp_path / "handed-in", "--out", grades, "--rubric", RUBRIC).returncode == 0
    (grades / "gradebook.db").chmod(0o660)
    assert grader("batch", tmp_path / "handed-in", "--out", grades, "--rubric", RUBRIC).returncode == 0
    assert (grades.stat().st_mode & 0o777, (grades / "gradebook.db").stat().st_mode & 0o777) == (0o750, 0o660)
