"""The report at a terminal: a table of problems, then feedback on what did not pass."""

from __future__ import annotations

from fractions import Fraction

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.model import Check, CheckResult, ProblemResult, Report, Status
from grader.registry import definition_of, question_of
from grader.report.part_counts import counted
from grader.report.points import rounded, shown, worth

# A word with every colour: the report reads the same without any.
_STYLES = {
    Status.PASSED: "green",
    Status.PARTIAL: "yellow",
    Status.FAILED: "red",
    Status.CRASHED: "red",
    Status.MISSING: "red",
    Status.SKIPPED: "dim",
    Status.REVIEW: "cyan",
    Status.UNGRADED: "bold magenta",
}


def print_report(report: Report, console: Console) -> None:
    title = Text(f"{report.submission} · {report.rubric.title}", style="bold")
    asked = [result for result in report.problems if result.max_points or result.points]
    counts = Text(f"Parts: {counted(result.status for result in asked)}")
    parts: list[RenderableType] = [title, _table(report), counts, *_feedback(report), *_remarks(report)]
    console.print(Group(*parts))


def _table(report: Report) -> Table:
    table = Table(show_footer=True, header_style="bold", footer_style="bold")
    table.add_column("Problem", footer="Total", no_wrap=True)
    table.add_column("Title", overflow="fold")
    table.add_column("Status")
    total = f"{shown(report.points)} / {worth(rounded(report.max_points), rounded(report.max_bonus))}"
    table.add_column("Points", justify="right", no_wrap=True, footer=total)
    for result in report.problems:
        points = _points(result.points, result.max_points)
        left_out = result.problem.optional and not result.max_points
        status = Text("optional", style="dim") if left_out else status_text(result.status)
        points += " bonus" if result.problem.optional and not left_out else ""
        table.add_row(Text(result.problem.id), Text(title_of(result)), status, points)
    return table


def title_of(result: ProblemResult) -> str:
    return f"{result.problem.title}: {result.chosen}" if result.chosen else result.problem.title


def _points(got: Fraction, out_of: Fraction) -> str:
    return f"{shown(got)} / {shown(out_of)}"


def status_text(status: Status) -> Text:
    return Text(str(status), style=_STYLES[status])


def _feedback(report: Report) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for problem in report.problems:
        told = feedback_on(problem)
        if told and problem.max_points:
            parts.append(Text(f"\n{problem.problem.id} {title_of(problem)}", style="bold"))
            parts += told
    return parts


def feedback_on(problem: ProblemResult) -> list[RenderableType]:
    """What did not pass, check by check."""
    return [_rendered(result) for result in _without_repeats([one for one in problem.checks if not _is_settled(one)])]


def _is_settled(result: CheckResult) -> bool:
    """Passed, or prose in which nothing was missed: a person still reads it, and there is nothing to say before."""
    evidence = result.outcome.evidence
    complete = result.outcome.score == 1 and "not_found" in evidence and not evidence.get("wrong_claims")
    return result.outcome.status is Status.PASSED or complete


def _without_repeats(results: list[CheckResult]) -> list[CheckResult]:
    """When everything below a gate was left out for the same reason, saying so once is enough."""
    first: dict[str, CheckResult] = {}
    for result in results:
        first.setdefault(result.outcome.message, result)
    return list(first.values())


def _rendered(result: CheckResult) -> RenderableType:
    head = Text.assemble(status_text(result.outcome.status), "  ", (result.check.id, "bold"))
    if result.check.points:
        head.append(f"  {_points(result.points, result.check.points)}", style="dim")
    if result.check.visibility == "hidden":
        head.append("  (hidden inputs)", style="dim")
    lines: list[RenderableType] = [head, Padding(Text(result.outcome.message, overflow="fold"), (0, 0, 0, 2))]
    if result.outcome.status is not Status.SKIPPED and result.outcome.score < 1:
        lines.append(Padding(Text(f"wanted: {result.check.summary}", style="dim", overflow="fold"), (0, 0, 0, 2)))
    if question := asked_in(result.check):
        lines.append(Padding(Text(question, style="dim", overflow="fold"), (0, 0, 0, 2)))
    return Padding(Group(*lines), (0, 0, 0, 2))


def asked_in(check: Check) -> str:
    """The question that an answer in words is an answer to, if the rubric repeats it."""
    known = definition_of(check.function)  # what the engine itself complains of is defined nowhere
    question = question_of(check) if known else ""
    return f"question: {question}" if question else ""


def _remarks(report: Report) -> list[RenderableType]:
    remarks = [*report.notes]
    waiting = [
        problem.problem.id
        for problem in report.problems
        if any(result.outcome.status is Status.REVIEW and _is_settled(result) for result in problem.checks)
    ]
    if waiting:
        remarks.append(f"the ideas asked for were found in the prose of {', '.join(waiting)}; a person still reads it")
    if report.provisional:
        remarks.append("points are provisional: a person has still to look at what is marked review or ungraded")
    if report.isolation.missing:
        remarks.append(f"graded without these layers of isolation: {', '.join(report.isolation.missing)}")
    return [Text(f"\nNote: {remark}", overflow="fold") for remark in remarks]
