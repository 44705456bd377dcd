"""The self-check at a terminal and as Markdown. It never says that all is well: part of the rubric runs later."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from grader.model import CheckResult, ProblemResult, Report, Status
from grader.report.exports.markdown_table import literal
from grader.report.points import shown
from grader.report.terminal import feedback_on, status_text, title_of
from grader.selfcheck.heading import print_heading
from grader.selfcheck.home_rubric import Extent, extent, extent_of, is_left_out, status_here
from grader.selfcheck.own_work import OwnWork

_ID_WIDTH, _STATUS_WIDTH, _WORTH_WIDTH = 8, 10, 22  # characters: `1.b.iii`, `crashed`, `3.5 / 3.5, 1.5 later`


class TerminalListener:
    """Prints each step of the self-check as it is done."""

    def __init__(self, console: Console, *, headed: bool = False) -> None:
        """`headed`: the first line has been printed."""
        self._console = console
        self._headed = headed

    def begins(self, work: OwnWork) -> None:
        if not self._headed:
            print_heading(self._console, work.submission.name, work.whole.title)

    def form(self, faults: list[str]) -> None:
        if not faults:
            self._console.print(Text("Form: every file and part asked for is there and can be read"))
        for fault in faults:
            self._console.print(Text.assemble(("Form: ", "yellow"), fault))
        self._console.print()

    def problem(self, result: ProblemResult) -> None:
        line = Text(f"{result.problem.id:<{_ID_WIDTH}}")
        line.append_text(_status(result))
        line.pad_right(_ID_WIDTH + _STATUS_WIDTH - len(line))
        line.append(f"{_worth(result):<{_WORTH_WIDTH}}{title_of(result)}")
        self._console.print(line)
        for feedback in feedback_on(replace(result, checks=tuple(_unpassed(result)))):
            self._console.print(Padding(feedback, (0, 0, 0, _ID_WIDTH - 2), expand=False))

    def ends(self, report: Report) -> None:
        self._console.print()
        self._console.print(Text(summary(report), style="bold"))
        for note in report.notes[1:]:
            if note.startswith("your code ran without"):
                self._console.print(Text(f"Note: {note}"))


def _status(result: ProblemResult) -> Text:
    if is_left_out(result):
        return Text("optional", style="dim")
    status = status_here(result)
    if status is not None:
        return status_text(status)
    return Text("there" if result.checks else "later", style="dim")


def _unpassed(result: ProblemResult) -> list[CheckResult]:
    """What did not pass, without what the form has said already."""
    if is_left_out(result):
        return []
    return [one for one in result.checks if one.outcome.status is not Status.PASSED and not _is_absent(one, result)]


def _is_absent(one: CheckResult, result: ProblemResult) -> bool:
    files = (f"{file} was not handed in" for file in one.check.files)
    sheet = (f"there is no answer to {result.problem.id}", "no answers were handed in")
    return one.outcome.status is Status.MISSING and one.outcome.message.startswith((*sheet, *files))


def _worth(result: ProblemResult) -> str:
    """`2 / 3, 1 later`."""
    judged = extent_of(result)
    here = f"{shown(result.points)} / {shown(judged.points)}" if judged.points else ""
    later = f"{shown(judged.later.points)} later" if judged.later.points else ""
    return ", ".join(part for part in (here, later) if part)


def summary(report: Report) -> str:
    """The points, and how much they say."""
    judged: Extent = extent(report)
    return f"{shown(report.points)} of the {shown(judged.points)} points that are checked here. In all, {judged}."


def as_markdown(report: Report) -> str:
    """For a page: a table of problems, then what is to be done."""
    lines = [f"## {literal(report.submission)}: self-check", "", f"**{summary(report)}**", ""]
    lines += ["| Problem | Title | Status | Points |", "|---|---|---|---|"]
    for result in report.problems:
        cells = (result.problem.id, title_of(result), _status(result).plain, _worth(result))
        lines.append(f"| {' | '.join(literal(cell) for cell in cells)} |")
    lines.append("")
    for result in report.problems:
        for one in _unpassed(result):
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
