"""Requests to look at a part again, and what was answered. Both are rows that are only added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from grader.batch.decision_log import DecisionLog
from grader.batch.gradebook_file import GradebookFile
from grader.batch.rulings import LONGEST_COMMENT, Act, Decision, Kind, Ruling
from grader.errors import UsageError


@dataclass(frozen=True)
class Reply:
    at: str
    by: str
    text: str
    was: Fraction
    points: Fraction


@dataclass(frozen=True)
class Request:
    id: int
    at: str
    student: str
    part: str
    text: str
    reply: Reply | None = None


class RequestLog:
    def __init__(self, file: GradebookFile, decisions: DecisionLog) -> None:
        self._file = file
        self._decisions = decisions

    def add(self, wanted: Sequence[tuple[str, str, str]]) -> int:
        """Open these (student, part, text), all or none; how many were new."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        with self._file.faults_in_words(), self._file.transaction():
            before = self._file.base.total_changes
            self._file.base.executemany(
                "INSERT OR IGNORE INTO requests (at, student, part, text) VALUES (?, ?, ?, ?)",
                [(at, *map(_storable, one)) for one in wanted],
            )
            return self._file.base.total_changes - before

    def all(self, *, student: str | None = None, part: str | None = None, open_only: bool = False) -> list[Request]:
        """The first one first; with the reply that stands."""
        asked = {"student": student, "part": part}
        conditions = [f"q.{column} = :{column}" for column, value in asked.items() if value is not None]
        conditions += ["r.id IS NULL"] if open_only else []
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        with self._file.faults_in_words():
            return list(self._found(where, asked))

    def one(self, request: int) -> Request:
        with self._file.faults_in_words():
            found = next(self._found("WHERE q.id = :id", {"id": request}), None)
        if found is None:
            raise UsageError(f"there is no request {request}")
        return found

    def answer(self, request: int, reply: str, points: Fraction | None, *, by: str) -> Act:
        """Log the reply, and with points a decision beside it; without, what stands stays."""
        reply = _storable(reply).strip()
        if not reply:
            raise UsageError("a reply needs words: the student reads them")
        if len(reply) > LONGEST_COMMENT:
            raise UsageError(f"a reply has at most {LONGEST_COMMENT} characters, not {len(reply)}")
        with self._file.faults_in_words(), self._file.transaction():
            asked = self.one(request)
            if asked.reply is not None:
                raise UsageError(f"request {request} was answered by {asked.reply.by} meanwhile")
            state = next(iter(self._decisions.states(student=asked.student, part=asked.part)), None)
            if state is None:
                raise UsageError(f"{asked.student} has no part '{asked.part}' any more")
            act = self._decisions.begin_act(by, Kind.REGRADE)
            stands = state.standing.decision
            was = stands.points if stands is not None and stands.points is not None else state.points
            made: tuple[Decision, ...] = ()
            if points is not None:
                kept = (stands.comment, stands.items) if stands is not None else ("", ())
                made = self._decisions.add([Ruling(asked.student, asked.part, points, *kept)], act)
            self._file.base.execute(
                "INSERT INTO replies (act, request, reply, was, points) VALUES (?, ?, ?, ?, ?)",
                (act, request, reply, str(was), str(was if points is None else points)),
            )
        return Act(act, Kind.REGRADE, made)

    def _found(self, where: str, values: dict[str, Any]) -> Iterator[Request]:
        rows = self._file.base.execute(
            "SELECT q.id, q.at, q.student, q.part, q.text, a.at, a.by, r.reply, r.was, r.points FROM requests q "
            "LEFT JOIN replies r ON r.request = q.id "
            "AND NOT EXISTS (SELECT 1 FROM acts u WHERE u.undoes = r.act) "
            f"LEFT JOIN acts a ON a.id = r.act {where} ORDER BY q.id",
            values,
        )
        for number, asked_at, student, part, asked, at, by, text, was, points in rows:
            reply = None if text is None else Reply(at, by, text, Fraction(was), Fraction(points))
            yield Request(number, asked_at, student, part, asked, reply)


def _storable(text: str) -> str:
    """A lone surrogate is legal in Python only."""
    return text.encode("utf-8", "replace").decode()
