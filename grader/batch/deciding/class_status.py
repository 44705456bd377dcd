"""What is still open in a class, part by part, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.batch.course.class_list import ClassList
from grader.batch.rulings import Decision, Kind, PartState, by_part, on_what
from grader.model import Status
from grader.quoting import quote
from grader.report.circumstances import about_lateness
from grader.report.points import shown, worth

_LISTED = 20  # parts that were decided on another answer: more than a resubmission in a class leaves


@dataclass(frozen=True)
class PartCount:
    """One part over the class."""

    part: str
    open_now: int
    ungraded: int  # of those that are open
    all_found: int  # of those that are open: every idea was found, and nobody decided otherwise before
    decided: int
    accepted: int


def counted(states: Sequence[PartState]) -> list[PartCount]:
    """Parts in the order of the rubric, where a person had, or has, anything to do."""
    found = []
    for part, own in by_part(states).items():
        kinds = [state.standing.decision.kind for state in own if state.standing.decision is not None]
        accepted = kinds.count(Kind.ACCEPT)
        waiting = [state for state in own if state.is_open]
        ungraded = sum(state.found is Status.UNGRADED for state in waiting)
        if waiting or kinds:
            ready = len(acceptable(waiting))
            found.append(PartCount(part, len(waiting), ungraded, ready, len(kinds) - accepted, accepted))
    return found


def acceptable(states: Sequence[PartState]) -> list[PartState]:
    """Those that wait for a person although every idea was found; not where a person decided on an earlier answer."""
    return [state for state in states if state.is_open and state.all_found and state.standing.earlier is None]


def print_status(
    states: Sequence[PartState], grades: Path, console: Console, everybody: ClassList, *, requests: int = 0
) -> None:
    """`requests` to look again wait for an answer, too."""
    settle = everybody.next_command.replace("GRADES", shlex.quote(str(grades)))
    counts = counted(states)
    table = Table("Part", show_footer=True, footer_style="bold")
    columns = {
        "Open": [count.open_now for count in counts],
        "Ungraded": [count.ungraded for count in counts],
        "Every idea found": [count.all_found for count in counts],
        "Decided": [count.decided for count in counts],
        "Accepted": [count.accepted for count in counts],
    }
    table.columns[0].footer = "Total"
    for name, numbers in columns.items():
        table.add_column(name, justify="right", footer=str(sum(numbers)))
    for count, *numbers in zip(counts, *columns.values(), strict=True):
        table.add_row(Text(count.part), *map(str, numbers))
    if counts:
        console.print(table)
    again = [state for state in states if state.is_open and state.standing.earlier is not None]
    for state in again[:_LISTED]:
        assert state.standing.earlier is not None
        console.print(Text(f"{state.part} of {state.student}: {decided_before(state.standing.earlier, state)}"))
    if len(again) > _LISTED:
        console.print(Text(f"and {len(again) - _LISTED} more that were decided before"))
    students = len({state.student for state in states if state.is_open})
    waiting = sum(state.is_open for state in states)
    nothing = "No part is open." if settle or requests or everybody.not_graded else "Nothing is open."
    summary = f"{waiting} parts of {students} students wait for a person." if waiting else nothing
    for awaited in ("a second person", "a last word"):
        if count := sum(state.standing.awaits == awaited for state in states):
            summary += f" Decided and waiting for {awaited}: {count}."
    if everybody.not_graded:
        summary += f" Not graded yet: {everybody.not_graded} of {everybody.submissions} submissions."
    if requests:
        summary += f" Open regrade requests: {requests}."
    following = settle or next_command(states, counts, grades, requests, everybody.not_graded)
    console.print(Text(f"{summary} Next: {following}", overflow="fold"), soft_wrap=True)


def decided_before(earlier: Decision, state: PartState) -> str:
    assert earlier.points is not None
    return f"decided before on {on_what(earlier)}: {shown(earlier.points)} of {shown(state.worth)} by {earlier.by}"


def next_command(
    states: Sequence[PartState], counts: Sequence[PartCount], grades: Path, requests: int, not_graded: int
) -> str:
    place = shlex.quote(str(grades))
    if not_graded:
        return f"grader batch SUBMISSIONS --out {place} --resume"
    if any(count.ungraded for count in counts):
        return f"grader batch SUBMISSIONS --out {place} --resume (what is ungraded is graded again)"
    if requests or any(state.is_open or state.standing.awaits for state in states):
        return f"grader review {place}"
    return f"grader report {place} (writes the pages), then grader export {place} --to FORMAT"


def _decided(decision: dict[str, Any]) -> str:
    said = "; ".join([*(item["text"] for item in decision["items"]), *filter(None, [decision["comment"]])])
    return f"decided by {decision['by']}: {quote(said, 400)}"


def _as_line(request: dict[str, Any]) -> str:
    """A request to look again, and the answer to it."""
    asked = f"asked: {quote(request['text'], 200)}"
    if "reply" not in request:
        return f"{asked} (open)"
    reply = request["reply"]
    return f"{asked}; answered by {reply['by']}: {quote(reply['text'], 200)} ({reply['was']} → {reply['points']})"


def print_student(grade: Mapping[str, Any], states: Sequence[PartState], console: Console) -> None:
    """One student's parts: what stands, and who decided it."""
    table = Table("Part", "Status")
    table.add_column("Points", justify="right")
    table.add_column("Who", overflow="fold")
    told = {problem["id"]: problem for problem in grade["problems"]}
    for state in states:
        decision, earlier = state.standing.decision, state.standing.earlier
        points, who = state.points, ""
        if decision is not None and decision.points is not None:
            points, who = decision.points, _decided(told[state.part]["decision"])
        elif earlier is not None:
            who = decided_before(earlier, state)
        status = "decided" if decision else "open" if state.is_open else str(state.found)
        if state.standing.awaits:
            who += f"; waits for {state.standing.awaits}"
        table.add_row(Text(state.part), status, f"{shown(points)} / {shown(state.worth)}", Text(who))
        for request in told[state.part].get("regrade", ()):
            table.add_row("", "", "", Text(_as_line(request)))
    if states:
        console.print(table)
    together = f"handed in together by {', '.join(grade['group'])}" if "group" in grade else ""
    for note in (about_lateness(grade), together, *(() if states else grade["notes"])):
        if note:
            console.print(Text(note, overflow="fold"), soft_wrap=True)
    final = "provisional" if grade["provisional"] else "final"
    most = worth(grade["max_points"], grade.get("max_bonus", 0))
    console.print(Text(f"{grade['submission']}: {grade['points']} of {most} points, {final}"))
