"""What people decided: rows that are only added. Each belongs to a student, a part and the hash of what was judged.

It stands while that hash is the same, however often the class is graded; when the answer changed, the part is open
again and shows what was decided before. What a person does at once is one act, and is undone as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any

from grader.batch.gradebook_file import ANY_ANSWER, GradebookFile
from grader.batch.rulings import (
    FINEST,
    LONGEST_COMMENT,
    Act,
    AnswerChanged,
    Decision,
    Kind,
    Mark,
    NothingToUndo,
    PartState,
    Ruling,
    Standing,
)
from grader.errors import UsageError
from grader.model import Status
from grader.quoting import quote
from grader.rubric.hints import did_you_mean

_MANY = 20  # rulings on one part: reading all of it takes as long as reading so many answers
_INSERT = (
    "INSERT INTO decisions (act, student, part, judged, was, points, items, comment, adjust, mark, rests_on) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
# An act goes by its person; what only brings a decision up to date goes by the one who decided, and is undone with it.
_WITH_ACTS = """
FROM decisions d JOIN acts a ON a.id = d.act JOIN acts r ON r.id = COALESCE(d.rests_on, d.act)
LEFT JOIN acts u ON u.undoes = a.id LEFT JOIN acts v ON v.undoes = d.rests_on
"""
# However often an item was changed, only the last row on each answer counts, and of second marks each person's last.
_LATEST_OF_EACH = f"""
WHERE d.id IN (SELECT MAX(d.id) {_WITH_ACTS} WHERE {{where}}
GROUP BY d.student, d.part, d.judged, CASE d.mark WHEN {Mark.SECOND:d} THEN r.by ELSE '' END)
"""


class DecisionLog:
    def __init__(self, file: GradebookFile) -> None:
        self._file = file

    def decide(self, rulings: Sequence[Ruling], *, by: str, kind: Kind) -> Act:
        """Add one act: all of its decisions or none."""
        if not by.strip():
            raise UsageError("a decision needs --by: who decided")
        if not rulings:
            raise UsageError("there is nothing to decide")
        with self._file.faults_in_words(), self._file.transaction():
            act = self.begin_act(by, kind)
            return Act(act, kind, self.add(rulings, act))

    def begin_act(self, by: str, kind: Kind, undoes: int | None = None) -> int:
        """Within a transaction: what is added next belongs to this act."""
        row = (datetime.now(UTC).isoformat(timespec="seconds"), _storable(by), str(kind), undoes)
        done = self._file.base.execute("INSERT INTO acts (at, by, kind, undoes) VALUES (?, ?, ?, ?)", row)
        return int(done.lastrowid or 0)

    def add(self, rulings: Sequence[Ruling], act: int) -> tuple[Decision, ...]:
        """Within a transaction: decisions as part of an act that may do more than decide."""
        rows, known = [], self._states_of(rulings)
        for ruling in rulings:
            state = self._checked(ruling, known.get((ruling.student, ruling.part)))
            before = state.standing.second if ruling.mark is Mark.SECOND else state.standing.decision
            if ruling.points is None and before is None:
                raise UsageError(f"{ruling.part} of {ruling.student} has no decision that could be withdrawn")
            was = before.points if before and before.points is not None else state.points
            rows.append(_row(act, ruling, state.judged, was))
        self._file.base.executemany(_INSERT, rows)
        return tuple(self._decisions("WHERE d.act = :act", {"act": act}))

    def in_force(self, part: str) -> list[tuple[Decision, Fraction]]:
        """Within a transaction: the last decision on every answer that anybody ever gave to this part, second marks,
        too, each with what the part is worth to this student now."""
        worth = {state.student: state.worth for state in self._states(None, part)}
        where = _LATEST_OF_EACH.format(where="d.part = :part AND u.id IS NULL AND v.id IS NULL")
        found = self._decisions(where, {"part": part})
        return [(one, worth[one.student]) for one in found if one.points is not None and one.student in worth]

    def bring_up_to_date(self, decisions: Sequence[Decision], act: int) -> tuple[Decision, ...]:
        """Within a transaction: what people decided, with the points that follow from it now."""
        rows = [
            _row(act, _as_ruling(one), one.judged, one.was if one.points is None else one.points) for one in decisions
        ]
        self._file.base.executemany(_INSERT, rows)
        return tuple(self._decisions("WHERE d.act = :act", {"act": act}))

    def begin_undo(self, by: str) -> tuple[Act, int]:
        """Within a transaction: the last act of this person, which is taken back, so that what stood before it stands
        again; and the act that takes it back."""
        last = self._file.base.execute(
            "SELECT id, kind FROM acts a WHERE by = ? AND undoes IS NULL "
            "AND NOT EXISTS (SELECT 1 FROM acts u WHERE u.undoes = a.id) ORDER BY id DESC LIMIT 1",
            (by,),
        ).fetchone()
        if last is None:
            people = [name for (name,) in self._file.base.execute("SELECT DISTINCT by FROM acts")]
            raise NothingToUndo(f"nothing that '{quote(by, 60)}' did is left to undo{did_you_mean(by, people)}")
        undoing = self.begin_act(by, Kind.UNDO, last[0])
        return Act(last[0], Kind(last[1]), tuple(self._decisions("WHERE d.act = :act", {"act": last[0]}))), undoing

    def of_student(self, student: str, part: str | None = None) -> list[Decision]:
        """The whole log of one student, what was undone too, the first one first; of one part only, if it is named."""
        where = "WHERE d.student = :student" + ("" if part is None else " AND d.part = :part")
        with self._file.faults_in_words():
            return list(self._decisions(where, {"student": student, "part": part}))

    def second_marks(self) -> list[tuple[str, str]]:
        """The answers (student, part) that two people marked."""
        with self._file.faults_in_words():
            query = "SELECT DISTINCT student, part FROM decisions WHERE mark = ? ORDER BY part, student"
            return self._file.base.execute(query, (int(Mark.SECOND),)).fetchall()

    def standing(self, student: str) -> dict[str, Standing]:
        """By part, where anybody ever decided anything that stands or stood."""
        with self._file.faults_in_words():  # of most students nobody decides anything
            query = "SELECT 1 FROM decisions WHERE student = ? LIMIT 1"
            if self._file.base.execute(query, (student,)).fetchone() is None:
                return {}
        found = {state.part: state.standing for state in self.states(student=student)}
        return {part: one for part, one in found.items() if one != Standing()}

    def states(self, *, student: str | None = None, part: str | None = None) -> list[PartState]:
        """Every part of everybody's latest result, by student, parts as in the rubric; of one student or part only."""
        with self._file.faults_in_words():
            return list(self._states(student, part))

    def has_part(self, part: str) -> bool:
        """Whether anybody's result has it."""
        return self._file.base.execute("SELECT 1 FROM parts WHERE part = ? LIMIT 1", (part,)).fetchone() is not None

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
        latest = _LATEST_OF_EACH.format(where=" AND ".join([*conditions, "u.id IS NULL AND v.id IS NULL"]))
        for decision in self._decisions(latest, asked):
            log.setdefault((decision.student, decision.part), []).append(decision)
        for who, which, status, points, worth, judged, all_found in rows:
            found = (Status(status), _fraction(points), _fraction(worth), judged, bool(all_found))
            yield PartState(who, which, *found, _standing(log.get((who, which), ()), judged))

    def _states_of(self, rulings: Sequence[Ruling]) -> dict[tuple[str, str], PartState]:
        """Of a few one by one, of many their whole parts at once."""
        parts = dict.fromkeys(ruling.part for ruling in rulings)
        if len(rulings) > _MANY * len(parts):
            found = [state for part in parts for state in self._states(None, part)]
        else:
            found = [state for one in rulings for state in self._states(one.student, one.part)]
        return {(state.student, state.part): state for state in found}

    def _checked(self, ruling: Ruling, state: PartState | None) -> PartState:
        """The part that is ruled on; UsageError if the ruling makes no sense."""
        student, part = ruling.student, ruling.part
        if state is None:
            raise UsageError(self._unknown(student, part))
        if ruling.points is not None and not 0 <= ruling.points <= state.worth:
            most, wanted = float(state.worth), float(ruling.points)
            raise UsageError(f"{part} is worth 0 to {most:g} points, so it cannot be {wanted:g}")
        if ruling.points is not None and ruling.points.denominator > FINEST:
            raise UsageError(f"points come in parts of 1/{FINEST} at least")
        if len(ruling.comment) > LONGEST_COMMENT:
            raise UsageError(f"a comment has at most {LONGEST_COMMENT} characters, not {len(ruling.comment)}")
        if ruling.judged is not None and ruling.judged != state.judged:
            raise AnswerChanged(f"{part} of {student} was graded again meanwhile, and the answer is another one now")
        if ruling.after is not None and ruling.after != _act_of(state.standing, ruling.mark):
            raise AnswerChanged(f"{part} of {student} was decided by somebody else meanwhile; look at it again")
        return state

    def _unknown(self, student: str, part: str) -> str:
        parts = [state.part for state in self._states(student, None)]
        if parts:
            return f"{student} has no part '{part}'{did_you_mean(part, parts)}"
        students = [name for (name,) in self._file.base.execute("SELECT DISTINCT student FROM results")]
        return f"the gradebook has no student '{student}'{did_you_mean(student, students)}"

    def _decisions(self, where: str, values: Mapping[str, Any]) -> Iterator[Decision]:
        rows = self._file.base.execute(
            "SELECT d.act, a.at, r.by, r.kind, d.student, d.part, d.judged, d.was, d.points, d.items, d.comment, "
            "u.id IS NOT NULL OR v.id IS NOT NULL, d.adjust, d.mark, d.rests_on, a.by "
            f"{_WITH_ACTS} {where} ORDER BY d.id",
            values,
        )
        for act, at, by, kind, student, part, judged, was, points, items, comment, undone, *more in rows:
            adjust, mark, rests_on, changed_by = more
            own = (student, part, judged, _fraction(was), _exact(points), _ids(items), comment, bool(undone))
            changed = changed_by if rests_on else ""
            yield Decision(act, at, by, Kind(kind), *own, _exact(adjust), Mark(mark), rests_on, changed)


@lru_cache(maxsize=4096)
def _fraction(text: str) -> Fraction:
    """A class has few different points, and reading one takes longer than all else in a row."""
    return Fraction(text)


@lru_cache(maxsize=4096)
def _ids(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _exact(text: str | None) -> Fraction | None:
    return None if text is None else _fraction(text)


def _text(exact: Fraction | None) -> str | None:
    return None if exact is None else str(exact)


def _storable(text: str) -> str:
    """A lone surrogate is legal in Python only."""
    return text.encode("utf-8", "replace").decode()


def _row(act: int, ruling: Ruling, judged: str, was: Fraction) -> tuple[Any, ...]:
    said = (_text(ruling.points), json.dumps(ruling.items), _storable(ruling.comment), _text(ruling.adjust))
    return act, ruling.student, ruling.part, judged, str(was), *said, int(ruling.mark), ruling.rests_on


def _as_ruling(one: Decision) -> Ruling:
    own = (one.student, one.part, one.points, one.comment, one.items)
    return Ruling(*own, adjust=one.adjust, mark=one.mark, rests_on=one.rests_on or one.act)


def _standing(log: Sequence[Decision], judged: str) -> Standing:
    """The latest decision on this very answer; else, for people to see, the latest one on another."""
    if not log:
        return Standing()
    counting = [one for one in log if one.mark is not Mark.SECOND]
    on_this = [one for one in counting if one.judged == judged]
    last = counting[-1] if counting else None
    own = last if last and last.judged == ANY_ANSWER else on_this[-1] if on_this else None
    if own is not None and own.points is not None:
        marks = [one for one in log if one.mark is Mark.SECOND and one.judged == judged and one.by != own.by]
        return Standing(own, None, marks[-1] if marks else None)
    if own is not None or last is None:
        return Standing()
    return Standing(earlier=last if last.points is not None else None)


def _act_of(standing: Standing, mark: Mark) -> int:
    """The act in which what a person saw was decided; the second of two sees only what is their own."""
    own = standing.second if mark is Mark.SECOND else standing.decision
    return own.act if own else 0
