"""What staff set for a class, and who is behind each hand-in: rows that are only added, of which the latest counts."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from grader.batch.course.lateness import LatenessRule, Span, rule_from, span
from grader.batch.course.person import Person
from grader.batch.gradebook_file import GradebookFile


@dataclass(frozen=True)
class HandIn:
    """Who handed something in, and when: empty if nobody said."""

    members: tuple[Person, ...]
    came: str = ""


class SettingsLog:
    def __init__(self, file: GradebookFile) -> None:
        self._file = file

    def set(self, **values: Any) -> None:
        """Keep these under their names, all of them or none; what is as it was adds nothing."""
        with self._file.faults_in_words(), self._file.transaction():
            self._set(values)

    def _set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            if value != self._value(name):
                row = (_now(), name, json.dumps(value, ensure_ascii=False))
                self._file.base.execute("INSERT INTO settings (at, name, value) VALUES (?, ?, ?)", row)

    def _value(self, name: str) -> Any:
        query = "SELECT value FROM settings WHERE name = ? ORDER BY id DESC LIMIT 1"
        row = self._file.base.execute(query, (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def _read(self, name: str) -> Any:
        with self._file.faults_in_words():
            return self._value(name)

    @property
    def rule(self) -> LatenessRule | None:
        found = self._read("lateness")
        return rule_from(found) if found else None

    @property
    def extensions(self) -> dict[str, Span]:
        """By folded id."""
        return {student: span(text) for student, text in (self._read("extensions") or {}).items()}

    @property
    def times(self) -> dict[str, str]:
        """When students handed in, as staff said it, by folded id."""
        return dict(self._read("times") or {})

    @property
    def roster(self) -> list[Person]:
        """Empty if nobody gave one."""
        return [Person(student, name) for student, name in self._read("roster") or ()]

    @property
    def counts(self) -> dict[str, str]:
        """For whoever handed in more than once, by folded id: which hand-in counts."""
        return dict(self._read("counts") or {})

    @property
    def found(self) -> list[str]:
        """What the last batch found to grade, by the ids that results go by."""
        return list(self._read("found") or [])

    def note_found(self, found: Collection[str], behind: Mapping[str, HandIn]) -> None:
        """What a batch is about to grade, and who is behind it: a batch that is stopped leaves this."""
        with self._file.faults_in_words(), self._file.transaction():
            self._set({"found": sorted(found)})
            for student, hand_in in behind.items():
                self.add_hand_in(student, hand_in)

    def hand_ins(self) -> dict[str, HandIn]:
        """By the id that its result goes by."""
        query = (
            "SELECT hand_in, members, came FROM hand_ins WHERE id IN (SELECT MAX(id) FROM hand_ins GROUP BY hand_in)"
        )
        with self._file.faults_in_words():
            rows = self._file.base.execute(query).fetchall()
        return {
            student: HandIn(tuple(Person(*one) for one in json.loads(members)), came) for student, members, came in rows
        }

    def note_hand_in(self, student: str, found: HandIn) -> None:
        with self._file.faults_in_words(), self._file.transaction():
            self.add_hand_in(student, found)

    def add_hand_in(self, student: str, found: HandIn) -> None:
        """Within a transaction; what is as it was adds nothing."""
        members = json.dumps(as_rows(found.members), ensure_ascii=False)
        query = "SELECT members, came FROM hand_ins WHERE hand_in = ? ORDER BY id DESC LIMIT 1"
        if self._file.base.execute(query, (student,)).fetchone() != (members, found.came):
            row = (_now(), student, members, found.came)
            self._file.base.execute("INSERT INTO hand_ins (at, hand_in, members, came) VALUES (?, ?, ?, ?)", row)


def as_rows(people: Sequence[Person]) -> list[list[str]]:
    """As a setting holds them."""
    return [[one.student, one.name] for one in people]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
