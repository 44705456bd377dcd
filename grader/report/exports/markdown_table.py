"""The grades of a class, or of one student, as Markdown to paste into a mail or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.report.circumstances import NOT_GRADED_YET, NOT_HANDED_IN
from grader.report.exports.reports import (
    ProblemData,
    ReportData,
    Reports,
    decided_by,
    left_out,
    one_line,
    out_of,
    remarks,
    titled,
    total,
    unpassed,
)

# Markup anywhere in a line, and what makes an address a link. Nothing of a student's ever begins a line.
_ESCAPED = re.compile(r"[\\`*_\[\]|~$#]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}


def markdown(reports: Reports) -> str:
    return "\n".join(_lines(reports)) + "\n"


def literal(text: str) -> str:
    """Text that shows as itself: no markup, no HTML, no link, nobody mentioned."""
    escaped = _ESCAPED.sub(r"\\\g<0>", one_line(text))
    return "".join(_ENTITIES.get(letter, letter) for letter in escaped)


def _lines(reports: Reports) -> Iterator[str]:
    if len(reports) > 1:
        yield "| Student | Points | |"
        yield "|---|---:|---|"
        for student, report in reports.items():
            yield f"| {literal(student)} | {total(report)} | {_state(report)} |"
        yield ""
    for student, report in reports.items():
        yield from _section(student, report)


def _state(report: ReportData) -> str:
    if "not_handed_in" in report:
        return NOT_HANDED_IN
    if "not_graded_yet" in report:
        return NOT_GRADED_YET
    return "provisional" if report["provisional"] else ""


def _who(problem: ProblemData) -> str:
    return literal(f"(decided by {problem['decision']['by']})") if "decision" in problem else ""


def _section(student: str, report: ReportData) -> Iterator[str]:
    yield f"## {literal(student)}: {total(report)}"
    yield ""
    yield "| Problem | Title | Status | Points |"
    yield "|---|---|---|---:|"
    for problem in report["problems"]:
        found = "optional" if left_out(problem) else problem["status"]
        status = " ".join(filter(None, (found, _who(problem))))
        yield f"| {literal(problem['id'])} | {literal(titled(problem))} | {status} | {out_of(problem)} |"
    yield ""
    for problem in report["problems"]:
        if decided := decided_by(problem):
            yield f"- **{literal(problem['id'])}** {literal(decided)}"
        for check in unpassed(problem):
            hidden = " (hidden inputs)" if check["visibility"] == "hidden" else ""
            head = f"**{literal(problem['id'])} {literal(check['id'])}** {check['status']}, {out_of(check)}{hidden}"
            yield f"- {head}: {literal(check['message'])}"
    yield from (f"- Note: {literal(remark)}" for remark in remarks(report))
    yield ""
