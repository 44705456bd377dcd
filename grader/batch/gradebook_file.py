"""The SQLite file that the gradebook is: its tables, what is done to older ones, and transactions.

One submission, one act of a person: one transaction. What was confirmed is on the disk, whatever ends the grader.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.batch.answer_traits import Asked, add_traits
from grader.batch.part_rows import INSERT_PART, part_rows_of_text
from grader.errors import StaffFault, UsageError

NAME = "gradebook.db"
ANY_ANSWER = "*"  # what overrides were for before decisions belonged to an answer
_SCHEMA_VERSION = 5
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
"""
# `parts` repeats of each report what a decision and a list of open parts need, so that neither reads a report.
# An act is what a person does at once: one decision or many. An act that undoes another has no decisions of its own.
_TABLES_OF_DECISIONS = """
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
CREATE INDEX decided ON decisions (student, part, id);
CREATE INDEX of_act ON decisions (act);
"""
# What a person sees without opening reports: `traits` say which answers are alike, `findings` which items the grader
# would give. Items that the grader made are `initial_items`; what people add or change of them is `item_changes`, where
# only what changed is said. A lease is the one thing that is ever deleted: it says who looks at an answer right now.
_TABLES_OF_REVIEW = """
CREATE TABLE traits (
    result INTEGER NOT NULL REFERENCES results, part TEXT NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL,
    text TEXT NOT NULL, likeness TEXT NOT NULL, why TEXT NOT NULL, beginning TEXT NOT NULL,
    PRIMARY KEY (result, part)
) WITHOUT ROWID;
CREATE TABLE initial_items (
    item TEXT PRIMARY KEY, part TEXT NOT NULL, origin TEXT NOT NULL, place INTEGER NOT NULL, text TEXT NOT NULL,
    points TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE findings (
    result INTEGER NOT NULL REFERENCES results, part TEXT NOT NULL, item TEXT NOT NULL REFERENCES initial_items,
    found INTEGER NOT NULL, PRIMARY KEY (result, part, item)
) WITHOUT ROWID;
CREATE TABLE item_changes (
    id INTEGER PRIMARY KEY, act INTEGER NOT NULL REFERENCES acts, item TEXT NOT NULL, part TEXT NOT NULL,
    text TEXT, points TEXT
);
CREATE TABLE placements (
    id INTEGER PRIMARY KEY, act INTEGER NOT NULL REFERENCES acts, student TEXT NOT NULL, part TEXT NOT NULL,
    judged TEXT NOT NULL, place TEXT NOT NULL
);
CREATE INDEX placed ON placements (part);
CREATE TABLE requests (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, student TEXT NOT NULL, part TEXT NOT NULL, text TEXT NOT NULL,
    UNIQUE (student, part, text)
);
CREATE TABLE replies (
    id INTEGER PRIMARY KEY, act INTEGER NOT NULL REFERENCES acts, request INTEGER NOT NULL REFERENCES requests,
    reply TEXT NOT NULL, was TEXT NOT NULL, points TEXT NOT NULL
);
CREATE TABLE leases (
    student TEXT NOT NULL, part TEXT NOT NULL, by TEXT NOT NULL, until REAL NOT NULL, PRIMARY KEY (student, part)
) WITHOUT ROWID;
CREATE INDEX decided_parts ON decisions (part, id)
"""
# What holds for a class beside its results: of each name, and of each hand-in, the latest row counts.
_TABLES_OF_SETTINGS = """
CREATE TABLE settings (id INTEGER PRIMARY KEY, at TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE hand_ins (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, hand_in TEXT NOT NULL, members TEXT NOT NULL, came TEXT NOT NULL
);
CREATE INDEX latest_hand_in ON hand_ins (hand_in, id);
"""
_ONLY_ADDED = ("runs", "results")
_DECISIONS_ONLY_ADDED = ("parts", "acts", "decisions")
_REVIEW_ONLY_ADDED = ("traits", "initial_items", "findings", "item_changes", "placements", "requests", "replies")
_SETTINGS_ONLY_ADDED = ("settings", "hand_ins")


class GradebookFault(StaffFault):
    """The gradebook cannot be read or written; what it holds is untouched."""


class GradebookFile:
    def __init__(self, folder: Path, *, new: bool) -> None:
        self.path = folder / NAME
        if not new and not self.path.is_file():
            raise UsageError(f"{self.path}: there is no gradebook; `grader batch` makes one")
        with self.faults_in_words():
            try:
                folder.mkdir(0o700, parents=True, exist_ok=True)
                if not self.path.exists():  # other users of the machine read nothing, nor what SQLite puts beside it
                    os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            except OSError as error:
                raise GradebookFault(f"{folder}: no grades can be kept here: {error.strerror}") from None
            self.base = sqlite3.connect(self.path, timeout=_WAIT_SECONDS, isolation_level=None)
            self.base.execute("PRAGMA journal_mode = WAL")
            self.base.execute("PRAGMA synchronous = FULL")
            self.base.execute("PRAGMA foreign_keys = ON")
            self._prepare()

    def _prepare(self) -> None:
        steps: list[Callable[[], None]] = [
            self._make_tables,
            self._know_secrets,
            self._know_decisions,
            self._know_review,
            self._know_settings,
        ]
        if self._version() == _SCHEMA_VERSION:
            return
        with self.transaction():
            version = self._version()  # another command may have been quicker
            if not 0 <= version <= _SCHEMA_VERSION:
                raise UsageError(f"{self.path}: it was made by another version of the grader (format {version})")
            for step in steps[version:]:
                step()
            self.base.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")

    def _version(self) -> int:
        (version,) = self.base.execute("PRAGMA user_version").fetchone()
        return int(version)

    def _make_tables(self) -> None:
        self._run(_TABLES)
        self._only_add(_ONLY_ADDED)

    def _know_secrets(self) -> None:
        """Format 1 did not say which secret a run used."""
        columns = [row[1] for row in self.base.execute("PRAGMA table_info(runs)")]
        if "secret" not in columns:
            self.base.execute("ALTER TABLE runs ADD COLUMN secret TEXT NOT NULL DEFAULT ''")

    def _know_decisions(self) -> None:
        """Format 2 had overrides, which belonged to no answer: they become decisions that hold for any."""
        self._run(_TABLES_OF_DECISIONS)
        for result, exact, report in self.base.execute("SELECT id, exact, report FROM results"):
            self.base.executemany(INSERT_PART, part_rows_of_text(result, exact, report))
        if self.base.execute("SELECT 1 FROM sqlite_master WHERE name = 'overrides'").fetchone():
            self.base.execute("INSERT INTO acts SELECT id, at, by, 'override', NULL FROM overrides")
            self.base.execute(
                "INSERT INTO decisions SELECT id, id, student, part, ?, old, new, '[]', why FROM overrides",
                (ANY_ANSWER,),
            )
            self.base.execute("DROP TABLE overrides")
        self._only_add(_DECISIONS_ONLY_ADDED)

    def _know_review(self) -> None:
        """Format 3 had decisions without items, groups, second marks and requests; traits follow from reports."""
        self._run(_TABLES_OF_REVIEW)
        self.base.execute("ALTER TABLE runs ADD COLUMN submissions TEXT NOT NULL DEFAULT ''")
        self.base.execute("ALTER TABLE decisions ADD COLUMN adjust TEXT")
        self.base.execute("ALTER TABLE decisions ADD COLUMN mark INTEGER NOT NULL DEFAULT 0")
        self.base.execute("ALTER TABLE decisions ADD COLUMN rests_on INTEGER REFERENCES acts")
        for result, text, exact, report in self.base.execute(
            "SELECT r.id, d.text, exact, report FROM results r JOIN definitions d ON d.sha256 = r.definition"
        ):
            add_traits(self.base, result, Asked(json.loads(text)), json.loads(exact), json.loads(report))
        self._only_add(_REVIEW_ONLY_ADDED)

    def _know_settings(self) -> None:
        """Format 4 knew no roster, no deadline and nobody who hands in together."""
        self._run(_TABLES_OF_SETTINGS)
        self._only_add(_SETTINGS_ONLY_ADDED)

    def _run(self, statements: str) -> None:
        for statement in statements.split(";"):
            self.base.execute(statement)

    def _only_add(self, tables: tuple[str, ...]) -> None:
        for table in tables:
            for change in ("UPDATE", "DELETE"):
                self.base.execute(
                    f"CREATE TRIGGER {table}_{change} BEFORE {change} ON {table} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} are only ever added'); END"
                )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.base.execute("COMMIT")
        except BaseException:
            if self.base.in_transaction:  # a full disk has already rolled it back
                self.base.execute("ROLLBACK")
            raise

    @contextmanager
    def faults_in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise GradebookFault(f"{self.path}: {error}; what was graded before is kept") from None
