"""The `grader` command: which commands there are. Each one's code is loaded when it is called, and only then."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from grader import __version__

# By command: the room whose `commands.py` holds it, and what `grader --help` says. Loading all rooms takes a second.
COMMANDS = {
    "run": ("grader", "Grade one submission."),
    "batch": ("grader.batch", "Grade a whole class."),
    "review": ("grader.review", "Decide what waits for a person, in a browser."),
    "override": ("grader.batch.deciding", "Decide a part by hand."),
    "accept": ("grader.batch.deciding", "Accept the points that the grader proposes, where every idea was found."),
    "undo": ("grader.batch.deciding", "Take back the last thing this person did."),
    "status": ("grader.batch.deciding", "Say what is open, part by part."),
    "report": ("grader.batch.deciding", "Write the pages, the table and the JSON reports anew."),
    "regrade": ("grader.review", "Take in what students ask to be looked at again."),
    "settings": ("grader.batch.course", "Say what holds for a class: deadline, lateness, extensions, roster."),
    "rescore": ("grader.batch", "Give new points for what was found before."),
    "similar": ("grader.similar", "Point staff to submissions that share what hardly anyone else has."),
    "export": ("grader.report", "Write grades for another program."),
    "gradescope": ("grader.report", "Grade on Gradescope."),
    "new": ("grader.authoring", "Make a rubric to begin with."),
    "rubric": ("grader.proving", "Look at rubrics and prove them right."),
    "checks": ("grader", "List the checks that rubrics can use, with their parameters."),
    "release": ("grader.release", "Make the kit that students get."),
    "doctor": ("grader", "Say what isolation this machine, or every worker of a cluster, gives student code."),
    "check": ("grader.selfcheck", "Check your own work: the public checks, before the deadline."),
    "answer": ("grader.selfcheck", "Show how a formula, a number, a choice or prose is read, and what it earns."),
    "formula": ("grader.selfcheck", "Show how a formula, a number, a choice or prose is read, and what it earns."),
    "parameters": ("grader.selfcheck", "Show the numbers that are a student's own."),
    "pack": ("grader.selfcheck", "Make the archive to hand in."),
}


class Commands(TyperGroup):
    """Commands by name, each loaded with its room."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = dict.fromkeys(COMMANDS)  # their names, from which a mistyped one is guessed

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        loaded: Any = get_command(import_module(f"{COMMANDS[cmd_name][0]}.commands").app)
        return loaded.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, told) for name, (_, told) in COMMANDS.items()])


app = typer.Typer(
    help="Grades homework on attention and Transformers.",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        print(f"attention-grader {__version__}")
        sys.exit()
