"""Everybody in a class: whose grade is which hand-in's, who handed in nothing, and for whom a person has to say.

A hand-in is graded and decided once, under an id of its own; each of its members has its grade. Whoever is behind
several hand-ins has no grade until staff say which one counts: nothing is picked in silence.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.batch.course.lateness import moment
from grader.batch.course.person import Person, folded
from grader.batch.course.settings_log import HandIn
from grader.batch.gradebook import Gradebook
from grader.errors import UsageError
from grader.quoting import quote
from grader.rubric.hints import did_you_mean

_LISTED = 20


@dataclass(frozen=True)
class Row:
    """One student's line in every table."""

    student: str
    name: str
    hand_ins: tuple[str, ...]  # what may count: one as a rule, none if nothing was handed in
    members: tuple[str, ...] = ()  # of the hand-in, if there are several
    came: str = ""  # when it was handed in; empty if nobody said
    in_roster: bool = True
    claims: tuple[str, ...] = ()  # every hand-in that names the student, whichever counts
    not_graded: bool = False  # a batch found the hand-in, and has not graded it yet


@dataclass(frozen=True)
class ClassList:
    rows: tuple[Row, ...]
    unknown_times: tuple[str, ...] = ()  # where a deadline is set and nobody said when they handed in
    times_of_nobody: tuple[str, ...] = ()  # ids that only --handed-in names
    submissions: int = 0
    not_graded: int = 0  # of these submissions

    @property
    def absent(self) -> list[str]:
        return [row.student for row in self.rows if not row.hand_ins]

    @property
    def disputed(self) -> list[Row]:
        return [row for row in self.rows if len(row.hand_ins) > 1]

    @property
    def strangers(self) -> list[str]:
        return [row.student for row in self.rows if not row.in_roster]

    @property
    def named_otherwise(self) -> dict[str, tuple[str, ...]]:
        """Hand-ins that go by a name of their own, with their members: nobody becomes such a one unnoticed."""
        found = {row.hand_ins[0]: row.members for row in self.rows if row.members}
        return {hand_in: members for hand_in, members in found.items() if hand_in not in members}

    def find(self, student: str) -> Row:
        alike = [row for row in self.rows if folded(row.student) == folded(student)]
        if alike:
            return next((row for row in alike if row.student == student), alike[0])
        if behind := [row for row in self.rows if row.hand_ins == (student,)]:  # a group's own name: team-7
            return behind[0]
        hint = did_you_mean(student, [row.student for row in self.rows])
        raise UsageError(f"the gradebook has no student '{quote(student, 60)}'{hint}")

    @property
    def next_command(self) -> str:
        """What settles the first of those who are behind several hand-ins; nothing if nobody is."""
        return _how_to_settle(self.disputed[0]) if self.disputed else ""

    def notes(self) -> Iterator[str]:
        """What staff should know about the class, a line each."""
        if waiting := [row.student for row in self.rows if row.not_graded]:
            yield f"not graded yet: {_listed(waiting)}"
        if self.absent:
            yield f"not handed in: {_listed(self.absent)}"
        if self.strangers:
            yield f"handed in, but not in the roster: {_listed(self.strangers)}"
        if self.named_otherwise:
            named = [f"{hand_in} ({', '.join(members)})" for hand_in, members in self.named_otherwise.items()]
            yield f"hand-ins that are no student's own, but of those whom their submission.yaml names: {_listed(named)}"
        for row in self.disputed[:_LISTED]:
            yield f"{row.student} has no grade: {about_dispute(row)}; {_how_to_settle(row)}"
        if len(self.disputed) > _LISTED:
            yield f"and {len(self.disputed) - _LISTED} more who are behind several hand-ins"
        if self.unknown_times:
            said = "nobody said when they handed in, so nothing is taken off for lateness"
            yield f"{said} (--handed-in FILE says it): {_listed(self.unknown_times)}"
        if self.times_of_nobody:
            nobody = _listed(self.times_of_nobody)
            yield f"--handed-in named people who are neither in the roster nor handed in: {nobody}"


def about_dispute(row: Row) -> str:
    which = " and ".join(f"'{one}'" for one in row.hand_ins)
    return f"handed in more than once, alone or in different groups ({which}), and a person has to say which one counts"


def _how_to_settle(row: Row) -> str:
    return f"grader settings GRADES --counts {shlex.quote(f'{row.student}={row.hand_ins[0]}')}"


def class_list(gradebook: Gradebook) -> ClassList:
    """As the gradebook stands; no report is read."""
    known = _Known(gradebook)
    rows = [known.row(person, claims) for person, claims in _behind(known.found)]
    there = {folded(row.student) for row in rows}
    rows += [Row(one.student, one.name, ()) for key, one in known.roster.items() if key not in there]
    rows.sort(key=lambda row: row.student)
    alone = [row for row in rows if len(row.hand_ins) == 1]
    unknown = [row.student for row in alone if not row.came] if gradebook.settings.rule else []
    somebody = {*there, *known.roster, *map(folded, known.found)}
    of_nobody = tuple(key for key in known.said if key not in somebody)
    return ClassList(tuple(rows), tuple(unknown), of_nobody, len(known.found), len(known.not_graded))


class _Known:
    """What the gradebook holds about a class, read once."""

    def __init__(self, gradebook: Gradebook) -> None:
        settings, graded = gradebook.settings, gradebook.hand_ins()
        hand_ins = settings.hand_ins()
        names = {student: name for student, name, _ in graded}
        self.not_graded = set(settings.found) - names.keys()
        names |= dict.fromkeys(self.not_graded, "")
        self.found = {
            student: hand_ins.get(student, HandIn((Person(student, name),))) for student, name in names.items()
        }
        self.roster = {folded(one.student): one for one in settings.roster}
        self.said = settings.times
        self._content = {student: digest for student, _, digest in graded} | dict.fromkeys(self.not_graded, "")
        self._counts = settings.counts

    def row(self, person: Person, claims: Sequence[str]) -> Row:
        key = folded(person.student)
        several = tuple(_without_copies(claims, self.found, self._content))
        if self._counts.get(key) in several:
            several = (self._counts[key],)
        student = self._spelled(person.student)
        name = person.name or self.roster.get(key, person).name
        in_roster = not self.roster or key in self.roster
        row = Row(student, name, several, in_roster=in_roster, claims=tuple(claims))
        if len(several) > 1:
            return row
        hand_in = self.found[several[0]]
        together = tuple(self._spelled(one.student) for one in hand_in.members)
        members = together if len(together) > 1 else ()
        came = _came(key, several[0], hand_in, self.said)
        return replace(row, members=members, came=came, not_graded=several[0] in self.not_graded)

    def _spelled(self, student: str) -> str:
        """As its hand-in goes by it, else as the roster has it: whoever names others in a group may not take care."""
        return student if student in self.found else self.roster.get(folded(student), Person(student)).student


def _behind(found: Mapping[str, HandIn]) -> Iterator[tuple[Person, list[str]]]:
    """Every student, with the hand-ins that name them. Two hand-ins go by ids that differ in case only because they are
    of two students; where one is named in another's group, case does not matter."""
    claims: dict[str, tuple[Person, list[str]]] = {}
    named = [(hand_in, person) for hand_in, one in found.items() for person in one.members]
    for hand_in, person in named:
        if person.student == hand_in:
            claims[hand_in] = (person, [hand_in])
    alike = {folded(student): student for student in reversed(claims)}
    for hand_in, person in named:
        if person.student != hand_in:
            other = alike.setdefault(folded(person.student), person.student)
            student = person.student if person.student in claims else other
            claims.setdefault(student, (person, []))[1].append(hand_in)
    yield from claims.values()


def _came(key: str, hand_in: str, found: HandIn, said: Mapping[str, str]) -> str:
    """When it came: as staff say of the student, of the hand-in or of others in the group; else as downloads say."""
    others = [said[folded(one.student)] for one in found.members if folded(one.student) in said]
    return said.get(key) or said.get(folded(hand_in)) or max(others, key=moment, default=found.came)


def _without_copies(claims: Sequence[str], found: dict[str, HandIn], content: dict[str, str]) -> Iterator[str]:
    """The same files handed in alone and in a group are one hand-in: the group's."""
    largest = sorted(claims, key=lambda one: -len(found[one].members))
    seen: set[str] = set()
    for one in largest:
        if not content[one] or content[one] not in seen:
            yield one
        seen.add(content[one])


def hand_in_of(row: Row) -> str:
    """The id that the student's work is graded and decided under."""
    if not row.hand_ins:
        raise UsageError(f"{row.student} handed in nothing, so there is nothing to decide")
    if len(row.hand_ins) > 1:
        raise UsageError(f"{row.student} has no grade: {about_dispute(row)}; {_how_to_settle(row)}")
    if row.not_graded:
        raise UsageError(f"{row.student} is not graded yet, so there is nothing to decide")
    return row.hand_ins[0]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(quote(name, 80) for name in names[:_LISTED]) + more
