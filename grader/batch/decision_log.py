"""What people decided: rows that are only added. Each belongs to a student, a part and the hash of what was judged.

It stands while that hash is the same, however often the class is graded; when the answer changed, the part is open
again and shows what was decided before. What a person does at once is one act, and is undone as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any

from grader.batch.gradebook_file import ANY_ANSWER, GradebookFile
from grader.errors import UsageError
from grader.model import Status
from grader.quoting import quote
from grader.suggestions import did_you_mean

OPEN = (Status.REVIEW, Status.UNGRADED)


class Kind(StrEnum):
    """What sort of act it was."""

    OVERRIDE = "override"
    ACCEPT = "accept"
    REVIEW = "review"
    BULK = "bulk"
    REGRADE = "regrade"
    UNDO = "undo"


class AnswerChanged(UsageError):
    """What the person read is no longer what is judged."""


@dataclass(frozen=True)
class Ruling:
    """What a person wants to stand for one part. Without points, nothing: the decision in force is withdrawn."""

    student: str
    part: str
    points: Fraction | None
    comment: str = ""  # the student reads it
    items: tuple[str, ...] = ()
    judged: str | None = None  # the hash of what the person read; another one by now is refused


@dataclass(frozen=True)
class Decision:
    act: int
    at: str
    by: str
    kind: Kind
    student: str
    part: str
    judged: str
    was: Fraction  # what stood before
    points: Fraction | None
    items: tuple[str, ...]
    comment: str
    undone: bool = False


@dataclass(frozen=True)
class Act:
    """What a person did at once."""

    id: int
    kind: Kind
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class Standing:
    """Where people stand on one part: what is decided, or what was decided on an answer that has changed since."""

    decision: Decision | None = None
    earlier: Decision | None = None


@dataclass(frozen=True)
class PartState:
    """One part of one student's latest result, and what people decided about it."""

    student: str
    part: str
    found: Status  # by the grader
    points: Fraction  # by the grader
    worth: Fraction
    judged: str
    all_found: bool  # it waits for a person, and every idea asked for was found
    standing: Standing = field(default_factory=Standing)

    @property
    def is_open(self) -> bool:
        return self.standing.decision is None and (self.found in OPEN or self.standing.earlier is not None)


class DecisionLog:
    def __init__(self, file: GradebookFile) -> None:
        self._file = file

    def decide(self, rulings: Sequence[Ruling], *, by: str, kind: Kind) -> Act:
        """Add one act: all of its decisions or none."""
        if not by.strip():
            raise UsageError("a decision needs --by: who decided")
        if not rulings:
            raise UsageError("there is nothing to decide")
        at = datetime.now(UTC).isoformat(timespec="seconds")
        by = _storable(by)
        with self._file.faults_in_words(), self._file.transaction():
            act = self._add_act(at, by, kind, None)
            made = []
            for ruling in rulings:
                state = self._checked(ruling)
                before = state.standing.decision
                if ruling.points is None and before is None:
                    what = "override" if kind is Kind.OVERRIDE else "decision"
                    raise UsageError(f"{ruling.part} of {ruling.student} has no {what} that could be withdrawn")
                was = before.points if before and before.points is not None else state.points
                own = (ruling.student, ruling.part, state.judged, was, ruling.points, ruling.items)
                made.append(Decision(act, at, by, kind, *own, _storable(ruling.comment)))
            self._file.base.executemany(
                "INSERT INTO decisions (act, student, part, judged, was, points, items, comment) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [_row(one) for one in made],
            )
        return Act(act, kind, tuple(made))

    def undo(self, by: str) -> Act:
        """Take back the last act of this person; what stood before it stands again. Returns the act taken back."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        with self._file.faults_in_words(), self._file.transaction():
            last = self._file.base.execute(
                "SELECT id, kind FROM acts a WHERE by = ? AND undoes IS NULL "
                "AND NOT EXISTS (SELECT 1 FROM acts u WHERE u.undoes = a.id) ORDER BY id DESC LIMIT 1",
                (by,),
            ).fetchone()
            if last is None:
                people = [name for (name,) in self._file.base.execute("SELECT DISTINCT by FROM acts")]
                raise UsageError(f"nothing that '{quote(by, 60)}' did is left to undo{did_you_mean(by, people)}")
            self._add_act(at, by, Kind.UNDO, last[0])
        return Act(last[0], Kind(last[1]), tuple(self._decisions("WHERE d.act = :act", {"act": last[0]})))

    def of_student(self, student: str) -> list[Decision]:
        """The whole log of one student, what was undone too, the first one first."""
        with self._file.faults_in_words():
            return list(self._decisions("WHERE d.student = :student", {"student": student}))

    def standing(self, student: str) -> dict[str, Standing]:
        """By part, where anybody ever decided anything that stands or stood."""
        found = {state.part: state.standing for state in self.states(student=student)}
        return {part: one for part, one in found.items() if one != Standing()}

    def states(self, *, student: str | None = None, part: str | None = None) -> list[PartState]:
        """Every part of everybody's latest result, by student, parts as in the rubric; of one student or part only."""
        with self._file.faults_in_words():
            return list(self._states(student, part))

    def _states(self, student: str | None, part: str | None) -> Iterator[PartState]:
        of_student = "" if student is None else "WHERE student = :student"
        of_part = "" if part is None else "WHERE p.part = :part"
        asked = {"student": student, "part": part}
        rows = self._file.base.execute(
            "SELECT l.student, p.part, status, points, worth, judged, all_found FROM parts p JOIN "
            f"(SELECT student, MAX(id) AS id FROM results {of_student} GROUP BY student) l ON p.result = l.id "
            f"{of_part} ORDER BY l.student, p.place",
            asked,
        ).fetchall()
        conditions = [f"d.{column} = :{column}" for column, value in asked.items() if value is not None]
        log: dict[tuple[str, str], list[Decision]] = {}
        for decision in self._decisions(f"WHERE {' AND '.join(conditions)}" if conditions else "", asked):
            if not decision.undone:
                log.setdefault((decision.student, decision.part), []).append(decision)
        for who, which, status, points, worth, judged, all_found in rows:
            found = (Status(status), _fraction(points), _fraction(worth), judged, bool(all_found))
            yield PartState(who, which, *found, _standing(log.get((who, which), ()), judged))

    def _checked(self, ruling: Ruling) -> PartState:
        """The part that is ruled on; UsageError if the ruling makes no sense."""
        student, part = ruling.student, ruling.part
        state = next(self._states(student, part), None)
        if state is None:
            raise UsageError(self._unknown(student, part))
        if ruling.points is not None and not 0 <= ruling.points <= state.worth:
            most, wanted = float(state.worth), float(ruling.points)
            raise UsageError(f"{part} is worth 0 to {most:g} points, so it cannot be {wanted:g}")
        if ruling.judged is not None and ruling.judged != state.judged:
            raise AnswerChanged(f"{part} of {student} was graded again meanwhile, and the answer is another one now")
        return state

    def _unknown(self, student: str, part: str) -> str:
        parts = [state.part for state in self._states(student, None)]
        if parts:
            return f"{student} has no part '{part}'{did_you_mean(part, parts)}; there are {', '.join(parts)}"
        students = [name for (name,) in self._file.base.execute("SELECT DISTINCT student FROM results")]
        return f"the gradebook has no student '{student}'{did_you_mean(student, students)}"

    def _add_act(self, at: str, by: str, kind: Kind, undoes: int | None) -> int:
        row = (at, by, str(kind), undoes)
        done = self._file.base.execute("INSERT INTO acts (at, by, kind, undoes) VALUES (?, ?, ?, ?)", row)
        return int(done.lastrowid or 0)

    def _decisions(self, where: str, values: Mapping[str, Any]) -> Iterator[Decision]:
        rows = self._file.base.execute(
            "SELECT d.act, a.at, a.by, a.kind, d.student, d.part, d.judged, d.was, d.points, d.items, d.comment, u.id "
            f"FROM decisions d JOIN acts a ON a.id = d.act LEFT JOIN acts u ON u.undoes = a.id {where} ORDER BY d.id",
            values,
        )
        for act, at, by, kind, student, part, judged, was, points, items, comment, undone in rows:
            exact = None if points is None else _fraction(points)
            own = (student, part, judged, _fraction(was), exact, tuple(json.loads(items)), comment)
            yield Decision(act, at, by, Kind(kind), *own, undone is not None)


@lru_cache(maxsize=4096)
def _fraction(text: str) -> Fraction:
    """A class has few different points, and reading one takes longer than all else in a row."""
    return Fraction(text)


def _storable(text: str) -> str:
    """A lone surrogate is legal in Python only."""
    return text.encode("utf-8", "replace").decode()


def _row(one: Decision) -> tuple[Any, ...]:
    points = None if one.points is None else str(one.points)
    return one.act, one.student, one.part, one.judged, str(one.was), points, json.dumps(one.items), one.comment


def _standing(log: Sequence[Decision], judged: str) -> Standing:
    """The latest decision on this very answer; else, for people to see, the latest one on another."""
    if not log:
        return Standing()
    last = log[-1]
    own = last if last.judged == ANY_ANSWER else next((one for one in reversed(log) if one.judged == judged), None)
    if own is not None:
        return Standing(own if own.points is not None else None)
    return Standing(earlier=last if last.points is not None else None)


def on_what(earlier: Decision) -> str:
    """What a decision was about, now that the part rests on something else; where grading failed, nobody knows."""
    return "another answer" if earlier.judged else "an answer that was not recorded"


def by_part(states: Sequence[PartState]) -> Mapping[str, list[PartState]]:
    """In the order of the rubric."""
    found: dict[str, list[PartState]] = {}
    for state in states:
        found.setdefault(state.part, []).append(state)
    return found
