"""`grader settings`: what holds for a class beside its grades, and how staff change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from grader.batch.course.class_list import ClassList, class_list
from grader.batch.course.lateness import LatenessRule, Of, Span, moment, share, span
from grader.batch.course.person import folded
from grader.batch.course.settings_log import SettingsLog, as_rows
from grader.batch.gradebook import Gradebook
from grader.errors import UsageError
from grader.options import HandedInOption, RosterOption, room_of_commands
from grader.quoting import quote
from grader.rubric.hints import did_you_mean

GradesArgument = Annotated[Path, typer.Argument(metavar="GRADES", help="The folder that `grader batch` wrote.")]


def settings(
    grades: GradesArgument,
    deadline: Annotated[
        str | None, typer.Option(metavar="TIME", help="2026-11-20T23:59+01:00, or '2026-11-20T23:59 Europe/Berlin'.")
    ] = None,
    no_deadline: Annotated[bool, typer.Option("--no-deadline", help="Nobody is late any more.")] = False,
    grace: Annotated[str | None, typer.Option(metavar="SPAN", help="So much later is still in time: 1h.")] = None,
    per_day: Annotated[str | None, typer.Option(metavar="SHARE", help="Taken off for each day begun: 10%.")] = None,
    at_most: Annotated[str | None, typer.Option(metavar="SHARE", help="Never more than this: 30%.")] = None,
    of: Annotated[Of | None, typer.Option(help="What it is a share of. Default: of the points earned.")] = None,
    extension: Annotated[
        list[str] | None, typer.Option(metavar="NAME=SPAN", help="Due later for one: alice=2d; alice=0 ends it.")
    ] = None,
    handed_in: HandedInOption = None,
    roster: RosterOption = None,
    counts: Annotated[
        list[str] | None, typer.Option(metavar="NAME=HAND-IN", help="Of several hand-ins, the one that counts.")
    ] = None,
) -> None:
    """Say what holds for a class: deadline, lateness, extensions, roster. Without options, only print it."""
    lateness = (deadline, grace, per_day, at_most, of)
    asked = (*lateness, extension, handed_in, roster, counts)
    changes = no_deadline or any(one is not None for one in asked)
    with Gradebook(grades) as gradebook:
        log, everybody = gradebook.settings, class_list(gradebook)
        ids = [row.student for row in everybody.rows]
        new: dict[str, object] = {}  # all of it is read before any of it is kept
        if no_deadline:
            new["lateness"] = None
        elif any(one is not None for one in lateness):
            new["lateness"] = _rule(log.rule, *lateness).as_data()
        if extension:
            new["extensions"] = _extensions(log, extension, everybody)
        if counts:
            new["counts"] = _counts(log, counts, everybody)
        if handed_in is not None or roster is not None:
            from grader.batch.course.people_files import read_roster, read_times  # loads what exports need

            if handed_in is not None:
                new["times"] = log.times | read_times(handed_in, ids)
            if roster is not None:
                new["roster"] = as_rows(read_roster(roster, ids))
        log.set(**new)
        for line in _lines(log, class_list(gradebook)):
            print(line)
    if changes:
        print(f"`grader report {grades}` writes pages and table anew; exports follow at once.")


def _rule(
    before: LatenessRule | None,
    deadline: str | None,
    grace: str | None,
    per_day: str | None,
    at_most: str | None,
    of: Of | None,
) -> LatenessRule:
    """The rule as it was, with what is said now in its place."""
    if deadline is None and before is None:
        raise UsageError("nobody is late without a deadline: give --deadline, too, such as 2026-11-20T23:59+01:00")
    if deadline is not None:
        moment(deadline)  # refused here, where staff see it
    old = before or LatenessRule("")
    return LatenessRule(
        deadline if deadline is not None else old.deadline,
        span(grace) if grace is not None else old.grace,
        share(per_day) if per_day is not None else old.per_day,
        share(at_most) if at_most is not None else old.at_most,
        of or old.of,
    )


def _extensions(log: SettingsLog, given: Sequence[str], everybody: ClassList) -> dict[str, str]:
    found = log.extensions
    for student, text in _pairs(given, "--extension alice=2d"):
        found[folded(everybody.find(student).student)] = span(text)
    return {student: str(more) for student, more in found.items() if more != Span()}


def _counts(log: SettingsLog, given: Sequence[str], everybody: ClassList) -> dict[str, str]:
    found = log.counts
    for student, hand_in in _pairs(given, "--counts bob=alice"):
        row = everybody.find(student)
        if hand_in not in row.claims:
            hint = did_you_mean(hand_in, row.claims)
            raise UsageError(f"{row.student} is not behind a hand-in '{quote(hand_in, 60)}'{hint}")
        found[folded(row.student)] = hand_in
    return found


def _pairs(given: Sequence[str], example: str) -> Iterator[tuple[str, str]]:
    for text in given:
        student, sign, value = text.rpartition("=")
        if not sign or not student.strip() or not value.strip():
            raise UsageError(f"'{quote(text, 60)}' should be like {example}")
        yield student.strip(), value.strip()


def _lines(log: SettingsLog, everybody: ClassList) -> Iterator[str]:
    """What holds, a line each."""
    rule = log.rule
    if rule is None:
        yield "deadline    none: nobody is late"
    else:
        yield f"deadline    {rule.deadline}"
        yield f"grace       {rule.grace if rule.grace != Span() else 'none'}"
        yield f"lateness    {rule if rule.per_day else 'shown, and costs nothing (--per-day)'}"
    if extensions := log.extensions:
        yield f"extensions  {', '.join(f'{student} {more}' for student, more in extensions.items())}"
    people = log.roster
    yield f"roster      {f'{len(people)} students' if people else 'none: nobody is missed'}"
    groups = sorted({row.members for row in everybody.rows if row.members})
    if groups:
        yield f"groups      {'; '.join(', '.join(members) for members in groups)}"
    if counts := log.counts:
        yield f"counts      {', '.join(f'{student}: {hand_in}' for student, hand_in in counts.items())}"
    yield from everybody.notes()


app = room_of_commands(settings)
