"""The self-check at a terminal and as Markdown. It never says that all is well: part of the rubric runs later."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from grader.model import CheckResult, ProblemResult, Report, Status
from grader.report.exports.markdown_table import literal
from grader.report.points import shown
from grader.report.terminal import asked_in, feedback_on, status_text, title_of
from grader.selfcheck.heading import print_heading
from grader.selfcheck.home_rubric import Extent, extent, extent_of
from grader.selfcheck.own_work import OwnWork
from grader.selfcheck.standing import NOT_STARTED, OPTIONAL, counted_here, lacks_its_file, standing

_ID_WIDTH, _STATUS_WIDTH, _WORTH_WIDTH = 8, 13, 22  # characters: `1.b.iii`, `not started`, `3.5 / 3.5, 1.5 later`
_STATUSES, _STYLES = frozenset(map(str, Status)), {NOT_STARTED: "red"}
_PLACE = re.compile(r"Error at (.+?):(\d+): ")


class TerminalListener:
    """Prints each step of the self-check as it is done."""

    def __init__(self, console: Console, *, headed: bool = False) -> None:
        """`headed`: the first line has been printed."""
        self._console = console
        self._headed = headed
        self._told: list[str] = []  # faults of form

    def begins(self, work: OwnWork) -> None:
        if not self._headed:
            print_heading(self._console, work.submission.name, work.whole.title)

    def form(self, faults: list[str]) -> None:
        self._told = faults
        if not faults:
            self._console.print(Text("Form: every file and part asked for is there and can be read"))
        for fault in faults:
            told, _, excerpt = fault.partition("\n")
            self._console.print(Text.assemble(("Form: ", "yellow"), told))
            if excerpt:
                self._console.print(Text(excerpt), soft_wrap=True)
        self._console.print()

    def problem(self, result: ProblemResult) -> None:
        line = Text(f"{result.problem.id:<{_ID_WIDTH}}")
        line.append_text(_status(result))
        line.pad_right(_ID_WIDTH + _STATUS_WIDTH - len(line))
        line.append(f"{_worth(result):<{_WORTH_WIDTH}}{title_of(result)}")
        self._console.print(line, no_wrap=True, overflow="ellipsis")
        for feedback in feedback_on(replace(result, checks=tuple(_unpassed(result, self._told)))):
            self._console.print(Padding(feedback, (0, 0, 0, _ID_WIDTH - 2), expand=False))
        for found in _found_in_words(result):
            self._console.print(Padding(Text(found, style="dim", overflow="fold"), (0, 0, 0, _ID_WIDTH)))

    def ends(self, report: Report) -> None:
        self._console.print()
        self._console.print(Text(summary(report), style="bold"))
        for note in report.notes[1:]:
            if note.startswith("your code ran without"):
                self._console.print(Text(f"Note: {note}"))


def _status(result: ProblemResult) -> Text:
    word = standing(result)
    return status_text(Status(word)) if word in _STATUSES else Text(word, style=_STYLES.get(word, "dim"))


def _unpassed(result: ProblemResult, told: Sequence[str]) -> list[CheckResult]:
    """What did not pass, without what was told of the form, and what was not tried because of that."""
    if standing(result) in (OPTIONAL, NOT_STARTED):
        return []
    unpassed = [one for one in result.checks if one.outcome.status is not Status.PASSED]
    amiss = [one for one in unpassed if not _is_told(one, told)]
    return amiss if any(one.outcome.status is not Status.SKIPPED for one in amiss) else []


def _found_in_words(result: ProblemResult) -> Iterator[str]:
    """Where an answer in words stands and, below it, the question: whether one fits the other nobody says here."""
    for one in result.checks:
        if one.outcome.status is Status.PASSED and (question := asked_in(one.check)):
            yield from (one.outcome.message, question)


def _is_told(one: CheckResult, told: Sequence[str]) -> bool:
    if one.outcome.code == "syntax_error" and (place := _PLACE.search(one.outcome.message)):
        return any(fault.startswith(f"{place[1]}, line {place[2]}: ") for fault in told)
    absent = lacks_its_file(one) or one.outcome.code == "no_answer_given"
    return one.outcome.status is Status.MISSING and absent


def _worth(result: ProblemResult) -> str:
    """`2 / 3, 1 later`."""
    judged = extent_of(result)
    here = f"{shown(result.points)} / {shown(judged.points)}" if judged.points else ""
    later = f"{shown(judged.later.points)} later" if judged.later.points else ""
    return ", ".join(part for part in (here, later) if part)


def summary(report: Report) -> str:
    """The points, and how much they say."""
    judged: Extent = extent(report)
    points = f"{shown(report.points)} of the {shown(judged.points)} points that are checked here"
    unchecked = len(report.rubric.problems) - len(report.problems)
    parts = counted_here(report.problems) + (f"; {unchecked} not checked, for want of a library" if unchecked else "")
    return f"Parts: {parts}. {points}. {'Of these parts' if unchecked else 'In all'}, {judged}."


def as_markdown(report: Report) -> str:
    """For a page: a table of problems, then what is to be done."""
    lines = [f"## {literal(report.submission)}: self-check", "", f"**{summary(report)}**", ""]
    lines += ["| Problem | Title | Status | Points |", "|---|---|---|---|"]
    for result in report.problems:
        cells = (result.problem.id, title_of(result), _status(result).plain, _worth(result))
        lines.append(f"| {' | '.join(literal(cell) for cell in cells)} |")
    lines.append("")
    for result in report.problems:
        for one in _unpassed(result, report.notes):
            head = f"**{literal(result.problem.id)} {literal(one.check.id)}** {one.outcome.status}"
            lines.append(f"- {head}: {literal(one.outcome.message)}")
    lines += [f"- {literal(note)}" for note in report.notes[1:]]
    return "\n".join(lines) + "\n"


class SilentListener:
    """Hears it all and says nothing."""

    def begins(self, work: OwnWork) -> None: ...

    def form(self, faults: list[str]) -> None: ...

    def problem(self, result: ProblemResult) -> None: ...

    def ends(self, report: Report) -> None: ...
