"""How an answer was read, at a terminal: what came out, or stage by stage."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from grader.formulas.answer.explaining import NotRead, Read, Reading
from grader.formulas.answer.stage_lines import stages_of
from grader.model import Problem
from grader.quoting import quote
from grader.report.points import shown
from grader.report.terminal import status_text
from grader.selfcheck.home_rubric import is_judged
from grader.selfcheck.playground import LINE, SHEET, Trial, column_in

_WIDTH = 10
_CHARACTERS = 400  # of a formula shown
_STAGE_CHARACTERS = 2_000  # of a stage: a line of tokens is some times as long as its formula


def print_trials(text: str, problem: Problem, trials: Sequence[Trial], console: Console) -> None:
    console.print(Text(f"{problem.id} {problem.title}", style="bold"))
    for trial in trials:
        for reading in trial.readings:
            if isinstance(reading, Read):
                _print_read(reading, console)
            else:
                _print_unread(text, reading, trial, console)
        console.print(_verdict(trial, problem))


def print_stages(text: str, problem: Problem, trials: Sequence[Trial], console: Console) -> None:
    """Text, tokens, clauses, answer, types, verdict: a line for each, down to the one where reading stopped."""
    _stage("text", text, console)
    if not any(trial.readings for trial in trials):
        print_trials(text, problem, trials, console)
    for trial in trials:
        readings = [one for last in trial.readings for one in (*_alternatives(last), last)]
        unread = [reading for reading in readings if isinstance(reading, NotRead)]
        columns = [column for one in unread if (column := column_in(text, one, trial.answer)) is not None]
        if columns and "\n" not in text:
            _print_caret(text, columns[0], _WIDTH, console)
        printed: set[tuple[str, str]] = set()  # several formulas of one text have the same tokens and clauses
        for reading in readings:
            *before, last = stages_of(reading)
            for stage in before:
                if stage not in printed or stage[0] == "answer":
                    _stage(*stage, console)
            _stage(last[0], _without_the_sheet(last[1]) + _place(reading), console)
            printed |= set(before)
        if len(unread) < len(readings):
            console.print(_verdict(trial, problem), soft_wrap=True)


def _alternatives(reading: Reading) -> Sequence[Reading]:
    return reading.others if isinstance(reading, Read) else ()


def _stage(name: str, what: str, console: Console) -> None:
    console.print(Text(name.ljust(_WIDTH) + quote(what, _STAGE_CHARACTERS)), soft_wrap=True)


def _place(reading: Reading) -> str:
    """Where reading stopped in what was typed."""
    if isinstance(reading, Read) or reading.place is None:
        return ""
    line = reading.place.line - LINE + 1
    return f" ({f'line {line}, ' if line > 1 else ''}column {reading.place.column})"


def _print_read(reading: Read, console: Console) -> None:
    _line("read as", reading.plain, console)
    if reading.latex:
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
        console.print(Text(f"  {quote(text, _CHARACTERS)}"), soft_wrap=True)
        _print_caret(text, column, 2, console)
    _line("not read", _without_the_sheet(unread.cause), console)


def _print_caret(text: str, column: int, indent: int, console: Console) -> None:
    before = quote(text[:column], _CHARACTERS)
    indent += len(before) + (text[:column] != text[:column].rstrip())
    console.print(Text(f"{' ' * indent}^", style="red"), soft_wrap=True)


def _verdict(trial: Trial, problem: Problem) -> Text:
    if trial.judged_whole:
        return _labelled(
            "verdict", f"none for a formula alone: `grader check --part {problem.id}` judges the whole answer"
        )
    if trial.result is None and trial.check is not None and trial.check.personal:
        return _labelled("verdict", "none: its numbers are each student's own; say whose with --student NAME")
    if trial.result is None or trial.check is None or not is_judged(trial.check):
        unknown = "" if trial.check else ", and what its letters stand for is not known here"
        read = f"{_without_the_sheet(trial.result.outcome.message)}; " if trial.result and not trial.readings else ""
        return _labelled("verdict", f"none here: {read}this part is judged after the deadline{unknown}")
    outcome = trial.result.outcome
    points = f"{shown(trial.result.points)} / {shown(trial.check.points)}"
    line = Text("verdict".ljust(_WIDTH)).append_text(status_text(outcome.status))
    return line.append(f"  {points}  {_without_the_sheet(outcome.message)}")


def _without_the_sheet(message: str) -> str:
    """There is none: what was typed stands in the third line of one made for it."""
    return message.replace(f"{SHEET}:3:", "column ").replace(f"{SHEET}:1: ", "")


def _line(name: str, what: str, console: Console) -> None:
    console.print(_labelled(name, what))


def _labelled(name: str, what: str) -> Text:
    return Text(name.ljust(_WIDTH) + quote(what, _CHARACTERS), overflow="fold")
