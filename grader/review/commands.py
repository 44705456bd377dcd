"""`grader regrade import` and `regrade list`: what students ask to be looked at again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.batch.gradebook import Gradebook
from grader.batch.request_log import Request
from grader.exits import faults_in_one_line
from grader.options import room_of_commands
from grader.quoting import quote
from grader.report.points import shown
from grader.review.regrade_requests import read_requests

GradesArgument = Annotated[Path, typer.Argument(metavar="GRADES", help="The folder that `grader batch` wrote.")]


def import_requests(
    requests: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV table with student, part, text.")],
    grades: GradesArgument,
) -> None:
    """Open the requests in a table. Imported twice, nothing is there twice."""
    with Gradebook(grades) as gradebook:
        wanted = read_requests(requests, gradebook)
        new = gradebook.requests.add(wanted)
        waiting = len(gradebook.requests.all(open_only=True))
    known = f", {len(wanted) - new} were known before" if new < len(wanted) else ""
    print(f"{new} requests opened{known}; {waiting} wait for an answer")
    if waiting:
        print(f"`grader review {shlex.quote(str(grades))}` shows them beside the first decision.")


def list_requests(
    grades: GradesArgument,
    everything: Annotated[bool, typer.Option("--all", help="Those that were answered, too.")] = False,
) -> None:
    """List the requests that wait for an answer."""
    with Gradebook(grades) as gradebook:
        found = gradebook.requests.all(open_only=not everything)
    if not found:
        print("no request waits for an answer" if not everything else "there are no requests")
        return
    table = Table("Request", "Student", "Part")
    table.add_column("Text", overflow="fold")
    if everything:
        table.add_column("Answer", overflow="fold")
    for request in found:
        row = (str(request.id), request.student, request.part, quote(request.text, 400))
        table.add_row(*map(Text, row), *([Text(_answer(request))] if everything else []))
    Console().print(table)


def _answer(request: Request) -> str:
    if (reply := request.reply) is None:
        return "open"
    return f"{reply.by}: {quote(reply.text, 400)} ({shown(reply.was)} → {shown(reply.points)})"


app = room_of_commands()
_regrade = room_of_commands()
_regrade.command("import")(faults_in_one_line()(import_requests))
_regrade.command("list")(faults_in_one_line()(list_requests))
app.add_typer(_regrade, name="regrade", help="Take in what students ask to be looked at again.", no_args_is_help=True)
