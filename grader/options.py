"""Options that several commands share, each with one name and one meaning, and the app that holds a room's commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from grader.exits import faults_in_one_line

RubricOption = Annotated[
    str | None, typer.Option("--rubric", metavar="NAME|PATH", help="Default: the one the submission names or fits.")
]
DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Course data in place of the rubric's own.")
]
PartOption = Annotated[
    list[str] | None, typer.Option("--part", metavar="ID", help="Only this part (1.b.ii, 1(b) ii) or group (1).")
]
StudentOption = Annotated[list[str] | None, typer.Option("--student", metavar="NAME", help="Only this student.")]
RosterOption = Annotated[
    Path | None,
    typer.Option(
        "--roster",
        metavar="FILE",
        help="Everybody in the class: CSV with a column 'student', or an export of Canvas, Moodle or Gradescope.",
    ),
]
HandedInOption = Annotated[
    Path | None,
    typer.Option(
        "--handed-in",
        metavar="FILE",
        help="When they handed in: a CSV file student,time; Gradescope's downloads say it.",
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="A Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, or local:N."),
]
JsonOption = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the JSON report here; - for stdout.")
]
FailUnderOption = Annotated[float | None, typer.Option("--fail-under", metavar="POINTS", help="Exit 1 below this.")]
UnsafeOption = Annotated[
    bool, typer.Option("--unsafe", help="Run even where the box lacks layers. Only for your own code.")
]


def room_of_commands(*commands: Callable[..., None], **named: Callable[..., None]) -> typer.Typer:
    """An app of these commands, each named like its function or as given; a fault ends it in one line."""
    app = typer.Typer(rich_markup_mode=None)
    app.callback()(lambda: None)  # so that one command alone has a name, too
    for name, command in {**{command.__name__: command for command in commands}, **named}.items():
        app.command(name)(faults_in_one_line()(command))
    return app
