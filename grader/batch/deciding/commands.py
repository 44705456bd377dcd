"""`grader override`, `accept`, `undo`, `status` and `report`. One decision costs milliseconds: none writes pages, and
nothing that grades is loaded."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grader.batch.course.class_list import class_list, hand_in_of
from grader.batch.course.student_grades import student_grades
from grader.batch.deciding.class_status import print_status, print_student
from grader.batch.gradebook import Gradebook
from grader.batch.rulings import Kind, Ruling
from grader.errors import UsageError
from grader.model import Status
from grader.options import room_of_commands
from grader.quoting import quote, visible
from grader.report.points import shown
from grader.review.answer_views import AnswerView
from grader.review.desk import Desk
from grader.rubric.hints import did_you_mean
from grader.rubric.part_names import parts_meant

GradesArgument = Annotated[Path, typer.Argument(metavar="GRADES", help="The folder that `grader batch` wrote.")]
ByOption = Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides.")]


def override(
    student: Annotated[str, typer.Argument(help="As in the gradebook.")],
    part: Annotated[str, typer.Argument(help="The part's id, such as 1.c.ii.")],
    points: Annotated[str, typer.Argument(help="Such as 2.5; 'withdraw' takes the last override back.")],
    by: ByOption,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="The student reads it.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the gradebook.")] = Path("grades"),
) -> None:
    """Decide a part by hand. Every decision is kept, with what was there before, and stands while the answer is the
    same, however often it is graded."""
    try:
        wanted = None if points == "withdraw" else Fraction(points)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"'{quote(points, 40)}' is no number of points, such as 2.5") from None
    if not by.strip() or not why.strip():
        raise UsageError("an override needs --by and --why: who decided, and for what reason")
    with Gradebook(out) as gradebook:
        row = class_list(gradebook).find(student)
        hand_in = hand_in_of(row)
        meant = parts_meant(part, [state.part for state in gradebook.decisions.states(student=hand_in)])
        part = meant[0] if len(meant) == 1 else part
        ruling = Ruling(hand_in, part, wanted, quote(why, 1000))
        (made,) = gradebook.decisions.decide([ruling], by=quote(by), kind=Kind.OVERRIDE).decisions
        (state,) = gradebook.decisions.states(student=hand_in, part=part)
    stands = made.points if made.points is not None else state.points
    who = ", ".join(row.members) or row.student
    print(f"{who} {part}: {shown(made.was)} → {shown(stands)}, by {made.by}: {made.comment}")
    print(_how_to_write_pages(out))


def accept(
    out: GradesArgument,
    part: Annotated[str, typer.Option("--part", metavar="ID", help="The part's id, such as 1.a.i.")],
    by: ByOption,
) -> None:
    """Accept the points that the grader proposes, where every idea was found, after reading some of the answers."""
    with Gradebook(out) as gradebook:
        desk = Desk(gradebook, by)
        known = [one.part for one in desk.parts()]
        meant = parts_meant(part, known)
        if not meant:
            raise UsageError(f"there is no part '{quote(part, 40)}'{did_you_mean(part, known)}")
        if len(meant) > 1:
            raise UsageError(f"accept one part at a time: {', '.join(meant)}")
        part = meant[0]
        bulk = desk.bulk(part)
        for why, count in bulk.excluded.items():
            print(f"{count} to be read one by one in `grader review`, though every idea was found: {why}")
        if not bulk.ready:
            print(f"nothing to accept: no open answer to {part} has every idea and may be accepted unread")
            return
        if not sys.stdin.isatty():
            raise UsageError("`accept` shows answers to be read and asks about each: run it at a terminal")
        sample = desk.sample(bulk)
        print(f"In {len(bulk.ready)} open answers to {part} every idea was found. Read {len(sample)} of them:")
        for ref in sample:
            _print_answer(desk.view(ref))
            if not typer.confirm("Are these points right?", default=None):
                print(f"Nothing was accepted. The answer is by {quote(ref.student)}: `grader override` decides it.")
                return
        act = desk.accept_found(part, sample)
    print(f"{len(act.decisions)} open answers to {part} accepted by {quote(by)}: every idea was found")
    print(f"`grader undo {shlex.quote(str(out))} --by {shlex.quote(by)}` takes this back. {_how_to_write_pages(out)}")


def _print_answer(view: AnswerView) -> None:
    print(f"\n{view.alias}: {shown(view.found_points)} of {shown(view.worth)} points")
    for piece in view.pieces:
        print(visible(piece.get("text", "")))
    for check in view.checks:
        if check["status"] == Status.REVIEW:
            print(f"{check['id']}: {quote(check['message'], 400)}")


def undo(out: GradesArgument, by: ByOption) -> None:
    """Take back the last thing this person did, all of it; what stood before stands again."""
    with Gradebook(out) as gradebook:
        act = gradebook.items.undo(quote(by))
    parts = ", ".join(dict.fromkeys(one.part for one in act.decisions))
    students = dict.fromkeys(one.student for one in act.decisions)
    who = next(iter(students)) if len(students) == 1 else f"{len(students)} students"
    what = f"{act.kind} of {parts}, {who}" if act.decisions else f"{act.kind}, which decided nothing"
    print(f"undone: {what}, by {quote(by)}")
    print(_how_to_write_pages(out))


def status(
    out: GradesArgument,
    student: Annotated[str | None, typer.Option("--student", metavar="NAME", help="The parts of this one.")] = None,
) -> None:
    """Say what is open, part by part, and what to do next."""
    with Gradebook(out) as gradebook:
        everybody = class_list(gradebook)
        if student is not None:
            row = everybody.find(student)
            everybody = replace(everybody, rows=(row,))
            (one,) = student_grades(gradebook, everybody)
            states = gradebook.decisions.states(student=row.hand_ins[0]) if len(row.hand_ins) == 1 else []
            print_student(one.data, states, Console())
            return
        states = gradebook.decisions.states()
        requests = len(gradebook.requests.all(open_only=True))
    print_status(states, out, Console(), everybody, requests=requests)
    for note in everybody.notes():
        print(note)


def report(out: GradesArgument) -> None:
    """Write the pages, the table and the JSON reports anew, with what was decided meanwhile."""
    from grader.batch.files import write_files  # loads what draws pages, and other commands here draw none

    with Gradebook(out) as gradebook:
        written = write_files(gradebook, out)
    print(f"{written} reports written. {out / 'index.html'}, {out / 'gradebook.csv'}")


def _how_to_write_pages(out: Path) -> str:
    return f"`grader report {shlex.quote(str(out))}` writes the pages anew."


app = room_of_commands(override, accept, undo, status, report)
