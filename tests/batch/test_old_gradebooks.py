"""Gradebooks of earlier versions: read, and what people decided in them stays."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from grader.batch.gradebook import Gradebook, Run
from grader.batch.gradebook_file import NAME
from grader.batch.rulings import Kind
from grader.errors import UsageError
from tests.batch.test_gradebook import a_result, grade, keep

# As format 2 had it. Format 1 had no `secret`.
FORMAT_2 = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, rubric TEXT NOT NULL, rubric_path TEXT NOT NULL, data TEXT,
    seed INTEGER NOT NULL, problems TEXT NOT NULL, grader_version TEXT NOT NULL, secret TEXT NOT NULL DEFAULT ''
);
CREATE TABLE definitions (sha256 TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE results (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs, at TEXT NOT NULL, student TEXT NOT NULL,
    name TEXT NOT NULL, how TEXT NOT NULL, submission_sha256 TEXT NOT NULL, conditions_sha256 TEXT NOT NULL,
    rubric_sha256 TEXT NOT NULL, definition TEXT NOT NULL REFERENCES definitions, settled INTEGER NOT NULL,
    exact TEXT NOT NULL, report TEXT NOT NULL
);
CREATE INDEX latest ON results (student, id);
CREATE TABLE overrides (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, student TEXT NOT NULL, part TEXT NOT NULL,
    old TEXT NOT NULL, new TEXT, by TEXT NOT NULL, why TEXT NOT NULL
);
CREATE INDEX overridden ON overrides (student, id);
CREATE TRIGGER overrides_DELETE BEFORE DELETE ON overrides
BEGIN SELECT RAISE(ABORT, 'overrides are only ever added'); END;
"""
FORMAT_3 = """
CREATE TABLE parts (
    result INTEGER NOT NULL REFERENCES results, place INTEGER NOT NULL, part TEXT NOT NULL, status TEXT NOT NULL,
    points TEXT NOT NULL, worth TEXT NOT NULL, judged TEXT NOT NULL, all_found INTEGER NOT NULL,
    PRIMARY KEY (result, part)
) WITHOUT ROWID;
CREATE TABLE acts (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, by TEXT NOT NULL, kind TEXT NOT NULL,
    undoes INTEGER UNIQUE REFERENCES acts
);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY, act INTEGER NOT NULL REFERENCES acts, student TEXT NOT NULL, part TEXT NOT NULL,
    judged TEXT NOT NULL, was TEXT NOT NULL, points TEXT, items TEXT NOT NULL, comment TEXT NOT NULL
);
CREATE TRIGGER decisions_UPDATE BEFORE UPDATE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are only ever added'); END;
DROP TABLE overrides;
PRAGMA user_version = 3;
"""
OVERRIDES = [
    (1, "2025-11-01", "alice", "1.a", "1", "5/2", "Kim", "shown in office hours"),
    (2, "2025-11-02", "ben", "1.a", "1", "4", "Kim", "generous"),
    (3, "2025-11-03", "ben", "1.a", "4", None, "Lee", "a mistake"),
]


@pytest.fixture(params=[1, 2])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / NAME) as base:
        base.executescript(FORMAT_2)
        base.execute("INSERT INTO runs VALUES (1, '', 'r', 'rubric.yaml', NULL, 0, '[]', '1', '')")
        base.execute("INSERT INTO definitions VALUES ('d', '{}')")
        for number, student in enumerate(("alice", "ben"), start=1):
            made = a_result(student, "1")
            for problem in made.report["problems"]:
                problem.pop("judged", None)
            texts = (json.dumps(made.exact), json.dumps(made.report))
            row = (number, 1, "", student, "", "graded", "s", "c", "r", "d", 1, *texts)
            base.execute(f"INSERT INTO results VALUES ({', '.join('?' * len(row))})", row)
        base.executemany("INSERT INTO overrides VALUES (?, ?, ?, ?, ?, ?, ?, ?)", OVERRIDES)
        if request.param == 1:
            base.execute("ALTER TABLE runs DROP COLUMN secret")
        base.execute(f"PRAGMA user_version = {request.param}")
    return tmp_path


def test_overrides_become_decisions_that_hold_for_any_answer(folder: Path) -> None:
    with Gradebook(folder) as book:
        assert book.last_run() == Run("rubric.yaml", None, 0, (), "")
        assert grade(book, "alice")["points"] == 2.5
        keep(book, a_result("alice", "0", judged="1"))
        assert (grade(book, "alice")["points"], grade(book, "alice")["provisional"]) == (2.5, False)
        (made,) = book.decisions.of_student("alice")
        assert (made.at, made.by, made.kind, made.was) == ("2025-11-01", "Kim", Kind.OVERRIDE, Fraction(1))
        assert (made.points, made.comment) == (Fraction(5, 2), "shown in office hours")


def test_what_was_withdrawn_stays_withdrawn(folder: Path) -> None:
    with Gradebook(folder) as book:
        assert grade(book, "ben")["points"] == 1
        assert [one.points for one in book.decisions.of_student("ben")] == [4, None]
        assert [state.part for state in book.decisions.states(student="ben") if state.is_open] == ["1.a"]


def test_it_is_made_new_once_and_its_rows_are_only_added(folder: Path) -> None:
    for _ in range(2):
        with Gradebook(folder) as book:
            assert len(book.decisions.of_student("ben")) == 2
    base = sqlite3.connect(folder / NAME)
    with pytest.raises(sqlite3.IntegrityError, match="only ever added"):
        base.execute("DELETE FROM decisions")


def test_a_gradebook_of_a_later_version_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / NAME) as base:
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(UsageError, match="another version of the grader"):
        Gradebook(tmp_path)


def test_a_gradebook_without_items_gets_them_and_keeps_its_decisions(folder: Path) -> None:
    with sqlite3.connect(folder / NAME) as base:
        if "secret" not in [row[1] for row in base.execute("PRAGMA table_info(runs)")]:
            base.execute("ALTER TABLE runs ADD COLUMN secret TEXT NOT NULL DEFAULT ''")
        base.executescript(FORMAT_3)
        base.execute("INSERT INTO parts VALUES (1, 0, '1.a', 'review', '1', '4', '', 0)")
        base.execute("INSERT INTO acts VALUES (1, '2025-11-01', 'Kim', 'review', NULL)")
        base.execute("INSERT INTO decisions VALUES (1, 1, 'alice', '1.a', '', '1', '3', '[]', 'good')")
    with Gradebook(folder) as book:
        assert (grade(book, "alice")["points"], book.decisions.of_student("alice")[0].comment) == (3, "good")
        counted = book.file.base.execute("SELECT COUNT(*) FROM traits").fetchone()
        assert counted == (4,)  # two parts of two students
        assert book.items.add("1.a", "nice", Fraction(1), by="Kim").points == 1
