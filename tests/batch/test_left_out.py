"""A class's folder may hold submissions for several assignments: those that name another one are left out."""

from __future__ import annotations

import csv
import shutil
import tarfile
from pathlib import Path

import pytest

from grader.submission.declaration import declaration_of
from tests.batch.classes import RIGHT, batch, grader, make_class
from tests.conftest import REPOSITORY


def _students(out: Path) -> set[str]:
    return {row["student"] for row in csv.DictReader((out / "gradebook.csv").open())}


@pytest.mark.slow
def test_the_readme_s_own_command_grades_only_what_belongs_to_the_assignment(tmp_path: Path) -> None:
    done = grader("batch", "submissions", "--out", tmp_path, "--rubric", "ridge")
    belonging = {"rosa", "tom", "uma", "vera", "walt"}
    silent = {"nora", "sven"}  # these name no assignment
    assert _students(tmp_path) == belonging | silent
    assert done.stdout.startswith(f"{len(belonging | silent)} of {len(belonging | silent)} submissions: ")
    (line,) = [line for line in done.stderr.splitlines() if "left out" in line]
    assert "ada (dl-hw3), alice (nlp-a5)" in line
    assert "rosa" not in line


@pytest.mark.slow
def test_only_a_known_other_assignment_is_left_out(tmp_path: Path) -> None:
    work, out = tmp_path / "in", tmp_path / "out"
    named = {"own": "small-class", "typo": "dl-hw", "list": "[dl-hw3]", "other": "dl-hw3", "absent": "dl-hw3"}
    for name, rubric in named.items():
        (work / name).mkdir(parents=True)
        (work / name / "attention.py").write_text(f"{RIGHT}# {name}\n")
        (work / name / "submission.yaml").write_text(f"rubric: {rubric}\n")
    shutil.make_archive(str(work / "zipped"), "zip", work / "other")
    with tarfile.open(work / "packed.tar.gz", "w:gz") as archive:
        archive.add(work / "other", arcname=".")
    make_class(work, 1)
    roster = tmp_path / "roster.csv"
    roster.write_text("student\nother\nown\ntypo\nlist\ns000\n")
    done = batch(work, out, "--roster", roster)
    assert "left out" in done.stderr
    graded = {"own", "typo", "list", "s000"}
    rows = {row["student"]: row for row in csv.DictReader((out / "gradebook.csv").open())}
    assert {name for name, row in rows.items() if row["points"]} == graded
    assert rows.keys() - graded == {"other"}, "the only one of them in the roster"
    assert rows["other"]["handed_in"] == "not graded yet"
    done = batch(work, out, "--student", "other")
    assert "left out" not in done.stderr
    assert grader("export", out, "--to", "csv", "--final-only").returncode == 0
    done = batch(work, tmp_path / "again", "--skip", "own", "--skip", "typo", "--skip", "list", "--skip", "s000")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "nothing to grade" in done.stderr


def test_a_declaration_is_read_without_opening_the_rest(tmp_path: Path) -> None:
    assert declaration_of(REPOSITORY / "submissions" / "rafael")["rubric"] == "nlp-a5"
    (tmp_path / "link").mkdir()
    (tmp_path / "secret.yaml").write_text("rubric: dl-hw3\n")
    (tmp_path / "link" / "submission.yaml").symlink_to(tmp_path / "secret.yaml")
    (tmp_path / "folder" / "submission.yaml").mkdir(parents=True)
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "submission.yaml").write_text("rubric: dl-hw3\n" + "#" * 20_000)
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "book.ipynb").write_text("{}")
    for name in ("link", "folder", "long", "broken.zip", "book.ipynb", "nowhere"):
        assert declaration_of(tmp_path / name) == {}
