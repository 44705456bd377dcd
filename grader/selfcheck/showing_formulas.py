"""How a formula was read, at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from grader.formulas.answer.explaining import NotRead, Read
from grader.model import Problem
from grader.quoting import quote
from grader.report.points import shown
from grader.report.terminal import status_text
from grader.selfcheck.home_rubric import is_judged
from grader.selfcheck.playground import SHEET, Trial, column_in

_WIDTH = 10
_CHARACTERS = 400  # of a formula shown


def print_trials(text: str, problem: Problem, trials: Sequence[Trial], console: Console) -> None:
    console.print(Text(f"{problem.id} {problem.title}", style="bold"))
    for trial in trials:
        for reading in trial.readings:
            if isinstance(reading, Read):
                _print_read(reading, console)
            else:
                _print_unread(text, reading, trial, console)
        _print_verdict(trial, problem, console)


def _print_read(reading: Read, console: Console) -> None:
    _line("read as", reading.plain, console)
    _line("in LaTeX", reading.latex, console)
    if reading.misfit:
        _line("shape", f"none: {reading.misfit}", console)
    elif reading.shape:
        _line("shape", reading.shape, console)
    for letter, meaning in reading.letters.items():
        _line("", f"{letter}: {meaning}", console)


def _print_unread(text: str, unread: NotRead, trial: Trial, console: Console) -> None:
    column = column_in(text, unread, trial.answer)
    if column is not None and "\n" not in text:
        before = quote(text[:column], _CHARACTERS)
        indent = len(before) + (text[:column] != text[:column].rstrip())
        console.print(Text(f"  {quote(text, _CHARACTERS)}"), soft_wrap=True)
        console.print(Text(f"  {' ' * indent}^", style="red"), soft_wrap=True)
    _line("not read", _without_the_sheet(unread.cause), console)


def _print_verdict(trial: Trial, problem: Problem, console: Console) -> None:
    if trial.check is None and any(map(is_judged, problem.checks)):
        _line(
            "verdict", f"none for a formula alone: `grader check --part {problem.id}` judges the whole answer", console
        )
    elif trial.result is None or trial.check is None or not is_judged(trial.check):
        unknown = "" if trial.check else ", and what its letters stand for is not known here"
        _line("verdict", f"none here: this part is judged after the deadline{unknown}", console)
    else:
        outcome = trial.result.outcome
        points = f"{shown(trial.result.points)} / {shown(trial.check.points)}"
        line = Text("verdict".ljust(_WIDTH)).append_text(status_text(outcome.status))
        console.print(line.append(f"  {points}  {_without_the_sheet(outcome.message)}"))


def _without_the_sheet(message: str) -> str:
    """There is none: what was typed stands in the third line of one made for it."""
    return message.replace(f"{SHEET}:3:", "column ").replace(f"{SHEET}:1: ", "")


def _line(name: str, what: str, console: Console) -> None:
    console.print(Text(name.ljust(_WIDTH) + quote(what, _CHARACTERS), overflow="fold"))
