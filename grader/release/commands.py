"""`grader release`: what it is asked, and what it prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from grader.grading.secret import read_secret
from grader.options import DataOption, room_of_commands
from grader.release.kit import build_kit
from grader.release.starter import without_a_starter
from grader.report.points import shown
from grader.rubric.loading import find_rubric, load_rubric


def release(
    rubric: Annotated[str, typer.Argument(metavar="RUBRIC", help="Its name or path.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the kit goes; a new folder.")],
    data: DataOption = None,
) -> None:
    """Make the kit that students get: public checks, starter files, a grader without answers. Fails on any leak."""
    loaded = load_rubric(find_rubric(rubric), data)
    secret = read_secret()
    kit = build_kit(loaded, out, data=data, secret=secret)
    table = Table(*(Column(title, overflow="fold") for title in ("Problem", "Public check", "In the kit")))
    for problem, check, fate in kit.fates:
        table.add_row(problem, check, Text(fate))
    Console().print(table)
    for file in without_a_starter(loaded):
        print(f"grader: there is no starter for {file}; put one into {loaded.folder}/starter/", file=sys.stderr)
    if kit.unproved:
        without = "so the kit was neither tried with the reference solution nor searched for it"
        print(f"grader: {kit.unproved}, {without}", file=sys.stderr)
    if secret is None and any(check.visibility == "hidden" for part in loaded.problems for check in part.every_check):
        print("grader: GRADER_SECRET is not set; without it, hidden inputs can be drawn by anybody", file=sys.stderr)
    if loaded.per_student.ranges:
        how = "with this secret" if secret else "without GRADER_SECRET, too"
        print(f"grader: numbers of each student's own are as in this kit only if work is graded {how}", file=sys.stderr)
    here, whole = shown(kit.points), shown(loaded.points)
    print(f"{out}: {here} of {whole} points are checked before the deadline. No leak was found.")
    if kit.proof is not None:
        print(f"The reference solution ({kit.proof.gold}) passes every check in it.")


app = room_of_commands(release)
