"""`grader review`, `regrade import` and `regrade list`: what they are asked, and what must be there."""

from __future__ import annotations

import getpass
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.batch.gradebook import Gradebook
from grader.batch.request_log import Request
from grader.errors import UsageError
from grader.exits import extra_needed, faults_in_one_line
from grader.options import room_of_commands
from grader.quoting import quote
from grader.report.points import shown
from grader.review.regrade_requests import read_requests

GradesArgument = Annotated[Path, typer.Argument(metavar="GRADES", help="The folder that `grader batch` wrote.")]
LOCAL = "127.0.0.1"


def review(
    out: GradesArgument,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who decides. Default: your login.")] = None,
    submissions: Annotated[
        Path | None, typer.Option("--submissions", metavar="DIR", help="Where hand-ins lie now, if they were moved.")
    ] = None,
    names: Annotated[bool, typer.Option("--names", help="Show whose answers they are.")] = False,
    double: Annotated[
        str, typer.Option("--double", metavar="SHARE", help="Give this share to two people: 10%.")
    ] = "0%",
    reviewers: Annotated[
        Path | None, typer.Option("--reviewers", metavar="FILE", help="Lines NAME: TOKEN, for several people.")
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="H", help="Other machines, too: needs --reviewers.")
    ] = "127.0.0.1",
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="Default: 8765, or a free one.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
) -> None:
    """Decide what waits for a person, in a browser on this machine."""
    with extra_needed("review", "`grader review`"):
        from grader.review.handed_in_files import HandedInFiles
        from grader.review.reviewers import one_reviewer, read_reviewers
        from grader.review.serving import is_local, serve
        from grader.review.visit import Room
    if reviewers is not None and by is not None:
        raise UsageError("--by names the one person at this machine; with --reviewers each has a name in the file")
    if not is_local(host) and reviewers is None:
        raise UsageError(f"--host {host} lets other machines in, so name who may: --reviewers FILE, lines NAME: TOKEN")
    with Gradebook(out) as gradebook:  # a folder without one stops here
        run = gradebook.last_run()
        if run is None:
            raise UsageError(f"{out}: nothing has been graded here")
    people = read_reviewers(reviewers) if reviewers is not None else one_reviewer(_reviewer(by), out)
    files = HandedInFiles(submissions or (Path(run.submissions) if run.submissions else None))
    try:
        room = Room(out, people, files, names=names, double=_share(double))
        serve(room, host=host, port=port, browser=browser and reviewers is None)
    finally:
        files.close()


def _reviewer(by: str | None) -> str:
    try:
        name = quote(getpass.getuser() if by is None else by, 80)
    except (KeyError, OSError):
        name = ""
    if not name:
        raise UsageError("say who decides with --by NAME")
    return name


def _share(text: str) -> Fraction:
    try:
        share = Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        if not 0 <= share <= 1:
            raise ValueError
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"--double takes a share such as 10%, not '{quote(text, 20)}'") from None
    return share


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


app = room_of_commands(review)
_regrade = room_of_commands()
_regrade.command("import")(faults_in_one_line()(import_requests))
_regrade.command("list")(faults_in_one_line()(list_requests))
app.add_typer(_regrade, name="regrade", help="Take in what students ask to be looked at again.", no_args_is_help=True)
