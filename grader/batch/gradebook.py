"""The gradebook: one SQLite file that is the record. Results and overrides are only ever added.

A student's grade is the latest result with the latest override of each part on top. One submission, one transaction:
whatever ends the grader, what was graded before stays, and what was not is graded when the batch is run again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.errors import StaffFault, UsageError
from grader.suggestions import did_you_mean

NAME = "gradebook.db"
_SCHEMA_VERSION = 2
_WAIT_SECONDS = 30.0  # for another command that is writing

_TABLES = """
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
"""
_ONLY_ADDED = ("runs", "results", "overrides")


class GradebookFault(StaffFault):
    """The gradebook cannot be read or written; what it holds is untouched."""


@dataclass(frozen=True)
class Result:
    """One submission graded once: the report as its JSON has it, exact points beside it, and what it depended on."""

    student: str
    name: str
    how: str  # graded | rescored | not opened
    submission_sha256: str
    conditions_sha256: str
    rubric_sha256: str
    definition: str  # its text: all the rubric said but points and titles
    settled: bool  # nothing in it was ungraded, so the same work need not be graded again
    exact: dict[str, Any]  # {"points": {part: "7/2"}, "scores": {"part/check": "1/2"}}
    report: dict[str, Any]


@dataclass(frozen=True)
class Override:
    """A person's decision on one part. `new` is None where an earlier one was withdrawn."""

    at: str
    student: str
    part: str
    old: Fraction
    new: Fraction | None
    by: str
    why: str


@dataclass(frozen=True)
class Run:
    rubric_path: str
    data: str | None
    seed: int
    problems: tuple[str, ...]
    secret: str  # its fingerprint; empty if there was none


class Gradebook:
    def __init__(self, folder: Path, *, new: bool = False) -> None:
        """Open the gradebook in a folder; with `new`, make one if there is none."""
        self.path = folder / NAME
        if not new and not self.path.is_file():
            raise UsageError(f"{self.path}: there is no gradebook; `grader batch` makes one")
        with self._faults_in_words():
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise GradebookFault(f"{folder}: no grades can be kept here: {error.strerror}") from None
            self._base = sqlite3.connect(self.path, timeout=_WAIT_SECONDS, isolation_level=None)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
            self._base.execute("PRAGMA foreign_keys = ON")
            self._prepare()

    def _prepare(self) -> None:
        (version,) = self._base.execute("PRAGMA user_version").fetchone()
        if version == 0:
            with self._transaction():
                if self._base.execute("PRAGMA user_version").fetchone() != (0,):  # another command was quicker
                    return
                for statement in _TABLES.split(";"):
                    self._base.execute(statement)
                for table in _ONLY_ADDED:
                    for change in ("UPDATE", "DELETE"):
                        self._base.execute(
                            f"CREATE TRIGGER {table}_{change} BEFORE {change} ON {table} "
                            f"BEGIN SELECT RAISE(ABORT, '{table} are only ever added'); END"
                        )
                self._base.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        elif version == 1:  # it did not say which secret a run used
            with self._transaction():
                self._base.execute("ALTER TABLE runs ADD COLUMN secret TEXT NOT NULL DEFAULT ''")
                self._base.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        elif version != _SCHEMA_VERSION:
            raise UsageError(f"{self.path}: it was made by another version of the grader (format {version})")

    # ---- results ----

    def begin_run(self, run: Run, rubric: str, grader_version: str) -> int:
        asked = (rubric, run.rubric_path, run.data, run.seed, json.dumps(run.problems))
        row = (_now(), *asked, grader_version, run.secret)
        with self._faults_in_words(), self._transaction():
            columns = "at, rubric, rubric_path, data, seed, problems, grader_version, secret"
            done = self._base.execute(f"INSERT INTO runs ({columns}) VALUES ({', '.join('?' * len(row))})", row)
        return int(done.lastrowid or 0)

    def last_run(self) -> Run | None:
        with self._faults_in_words():
            query = "SELECT rubric_path, data, seed, problems, secret FROM runs ORDER BY id DESC LIMIT 1"
            row = self._base.execute(query).fetchone()
        return None if row is None else Run(row[0], row[1], row[2], tuple(json.loads(row[3])), row[4])

    def add(self, run: int, result: Result) -> None:
        definition = _sha256(result.definition)
        row = (
            *(run, _now(), result.student, result.name, result.how, result.submission_sha256),
            *(result.conditions_sha256, result.rubric_sha256, definition, int(result.settled)),
            *(_as_text(result.exact), _as_text(result.report)),
        )
        with self._faults_in_words(), self._transaction():
            self._base.execute("INSERT OR IGNORE INTO definitions VALUES (?, ?)", (definition, result.definition))
            self._base.execute(f"INSERT INTO results VALUES (NULL, {', '.join('?' * len(row))})", row)

    def latest(self, student: str) -> Result | None:
        with self._faults_in_words():
            row = self._base.execute(f"{_RESULTS} WHERE student = ? ORDER BY r.id DESC LIMIT 1", (student,)).fetchone()
        return None if row is None else _result(row)

    def everyone(self) -> Iterator[Result]:
        """The latest result of each student, by id; one at a time, so that a class of any size fits."""
        for student in self.students():
            if (found := self.latest(student)) is not None:
                yield found

    def students(self) -> list[str]:
        with self._faults_in_words():
            rows = self._base.execute("SELECT DISTINCT student FROM results ORDER BY student").fetchall()
        return [student for (student,) in rows]

    def history(self, student: str) -> list[Result]:
        """Every result there was, the first one first."""
        with self._faults_in_words():
            rows = self._base.execute(f"{_RESULTS} WHERE student = ? ORDER BY r.id", (student,)).fetchall()
        return [_result(row) for row in rows]

    # ---- overrides ----

    def override(self, student: str, part: str, points: Fraction | None, by: str, why: str) -> Override:
        """Add a decision to the log; None for `points` takes back the one before it."""
        result = self.latest(student)
        if result is None:
            raise UsageError(f"the gradebook has no student '{student}'{did_you_mean(student, self.students())}")
        parts = {problem["id"]: problem for problem in result.report["problems"]}
        if part not in parts:
            raise UsageError(f"{student} has no part '{part}'{did_you_mean(part, parts)}; there are {', '.join(parts)}")
        most = Fraction(str(result.exact["worth"][part]))
        if points is not None and not 0 <= points <= most:
            raise UsageError(f"{part} is worth 0 to {float(most):g} points, so it cannot be {float(points):g}")
        if not by.strip() or not why.strip():
            raise UsageError("an override needs --by and --why: who decided, and for what reason")
        standing = self.standing(student)
        before = standing[part].new if part in standing else None
        if points is None and before is None:
            raise UsageError(f"{part} of {student} has no override that could be withdrawn")
        old = before if before is not None else Fraction(result.exact["points"][part])
        made = Override(_now(), student, part, old, points, by, why)
        new = None if points is None else str(points)
        with self._faults_in_words(), self._transaction():
            self._base.execute(
                "INSERT INTO overrides (at, student, part, old, new, by, why) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (made.at, student, part, str(old), new, by, why),
            )
        return made

    def overrides(self, student: str) -> list[Override]:
        """The whole log of one student, the first one first."""
        query = "SELECT at, student, part, old, new, by, why FROM overrides WHERE student = ? ORDER BY id"
        with self._faults_in_words():
            rows = self._base.execute(query, (student,)).fetchall()
        return [
            Override(at, who, part, Fraction(old), None if new is None else Fraction(new), by, why)
            for at, who, part, old, new, by, why in rows
        ]

    def standing(self, student: str) -> dict[str, Override]:
        """The overrides in force, by part."""
        last = {override.part: override for override in self.overrides(student)}
        return {part: override for part, override in last.items() if override.new is not None}

    # ---- the file ----

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:  # a full disk has already rolled it back
                self._base.execute("ROLLBACK")
            raise

    @contextmanager
    def _faults_in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise GradebookFault(f"{self.path}: {error}; what was graded before is kept") from None

    def close(self) -> None:
        self._base.close()

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


_RESULTS = """
SELECT student, name, how, submission_sha256, conditions_sha256, rubric_sha256, d.text, settled, exact, report
FROM results r JOIN definitions d ON d.sha256 = r.definition
"""


def _result(row: tuple[Any, ...]) -> Result:
    *as_it_is, settled, exact, report = row
    values: list[Any] = [*as_it_is, bool(settled), json.loads(exact), json.loads(report)]
    return Result(*values)


def _as_text(data: Any) -> str:
    """JSON that any file and any database can hold: a lone surrogate is legal in Python only."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace").decode()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
