"""The gradebook: one SQLite file that is the record. Results and decisions are only ever added.

A student's grade is the latest result with what people decided on top (decision_log.py). One submission, one
transaction: whatever ends the grader, what was graded before stays, and what was not is graded when the batch is run
again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.batch.answer_traits import Asked, add_traits
from grader.batch.course.settings_log import HandIn, SettingsLog
from grader.batch.decision_log import DecisionLog
from grader.batch.gradebook_file import GradebookFile
from grader.batch.item_log import ItemLog
from grader.batch.part_rows import INSERT_PART, part_rows
from grader.batch.request_log import RequestLog


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
class Run:
    rubric_path: str
    data: str | None
    seed: int
    problems: tuple[str, ...]
    secret: str  # its fingerprint; empty if there was none
    submissions: str = ""  # where they were handed in, for whoever wants to see a page


class Gradebook:
    def __init__(self, folder: Path, *, new: bool = False) -> None:
        """Open the gradebook in a folder; with `new`, make one if there is none."""
        self.file = GradebookFile(folder, new=new)
        self._base = self.file.base
        self.path = self.file.path
        self.decisions = DecisionLog(self.file)
        self.items = ItemLog(self.file, self.decisions)
        self.requests = RequestLog(self.file, self.decisions)
        self.settings = SettingsLog(self.file)

    def begin_run(self, run: Run, rubric: str, grader_version: str) -> int:
        asked = (rubric, run.rubric_path, run.data, run.seed, json.dumps(run.problems))
        row = (_now(), *asked, grader_version, run.secret, run.submissions)
        with self.file.faults_in_words(), self.file.transaction():
            columns = "at, rubric, rubric_path, data, seed, problems, grader_version, secret, submissions"
            done = self._base.execute(f"INSERT INTO runs ({columns}) VALUES ({', '.join('?' * len(row))})", row)
        return int(done.lastrowid or 0)

    def last_run(self) -> Run | None:
        with self.file.faults_in_words():
            query = "SELECT rubric_path, data, seed, problems, secret, submissions FROM runs ORDER BY id DESC LIMIT 1"
            row = self._base.execute(query).fetchone()
        return None if row is None else Run(row[0], row[1], row[2], tuple(json.loads(row[3])), *row[4:])

    def add(self, run: int, result: Result, hand_in: HandIn | None = None) -> None:
        """A result and, where it is said, who is behind it: both or neither."""
        definition, asked = _read_definition(result.definition)
        row = (
            *(run, _now(), result.student, result.name, result.how, result.submission_sha256),
            *(result.conditions_sha256, result.rubric_sha256, definition, int(result.settled)),
            *(_as_text(result.exact), _as_text(result.report)),
        )
        with self.file.faults_in_words(), self.file.transaction():
            self._base.execute("INSERT OR IGNORE INTO definitions VALUES (?, ?)", (definition, result.definition))
            done = self._base.execute(_INSERT_RESULT, row)
            added = int(done.lastrowid or 0)
            self._base.executemany(INSERT_PART, part_rows(added, result.exact, result.report))
            add_traits(self._base, added, asked, result.exact, result.report)
            if hand_in is not None:
                self.settings.add_hand_in(result.student, hand_in)

    def latest(self, student: str) -> Result | None:
        with self.file.faults_in_words():
            row = self._base.execute(f"{_RESULTS} WHERE student = ? ORDER BY r.id DESC LIMIT 1", (student,)).fetchone()
        return None if row is None else _result(row)

    def everyone(self) -> Iterator[Result]:
        """The latest result of each student, by id; one at a time, so that a class of any size fits."""
        for student in self.students():
            if (found := self.latest(student)) is not None:
                yield found

    def students(self) -> list[str]:
        with self.file.faults_in_words():
            rows = self._base.execute("SELECT DISTINCT student FROM results ORDER BY student").fetchall()
        return [student for (student,) in rows]

    def hand_ins(self) -> list[tuple[str, str, str]]:
        """Of everybody's latest result the id, the name and the hash of what was handed in; no report is read."""
        query = "SELECT student, name, submission_sha256 FROM results WHERE id IN "
        query += "(SELECT MAX(id) FROM results GROUP BY student) ORDER BY student"
        with self.file.faults_in_words():
            return [(student, name, content) for student, name, content in self._base.execute(query)]

    def history(self, student: str) -> list[Result]:
        """Every result there was, the first one first."""
        with self.file.faults_in_words():
            rows = self._base.execute(f"{_RESULTS} WHERE student = ? ORDER BY r.id", (student,)).fetchall()
        return [_result(row) for row in rows]

    def close(self) -> None:
        self._base.close()

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


_INSERT_RESULT = f"INSERT INTO results VALUES (NULL, {', '.join('?' * 12)})"
_RESULTS = """
SELECT student, name, how, submission_sha256, conditions_sha256, rubric_sha256, d.text, settled, exact, report
FROM results r JOIN definitions d ON d.sha256 = r.definition
"""


def _result(row: tuple[Any, ...]) -> Result:
    *as_it_is, settled, exact, report = row
    values: list[Any] = [*as_it_is, bool(settled), json.loads(exact), json.loads(report)]
    return Result(*values)


_in_one_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _as_text(data: Any) -> str:
    """JSON that any file and any database can hold: a lone surrogate is legal in Python only."""
    return _in_one_line(data).encode("utf-8", "replace").decode()


@lru_cache(maxsize=64)
def _read_definition(text: str) -> tuple[str, Asked]:
    """Its hash, and what it asks. A class has few definitions, and each is long."""
    return hashlib.sha256(text.encode()).hexdigest(), Asked(json.loads(text))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
