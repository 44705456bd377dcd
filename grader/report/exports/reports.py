"""JSON reports as exporters see them: read from a folder, checked before use, unknown keys left aside."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from grader.errors import UsageError
from grader.model import Status, Visibility
from grader.quoting import quote
from grader.report.circumstances import about_lateness
from grader.report.points import worth

_MAX_BYTES = 32 * 2**20  # a hundred times the longest report
_MESSAGE_CHARACTERS = 2000
_NAMES_IN_A_LINE = 20

_Points = Annotated[int, Field(ge=0)] | Annotated[float, Field(ge=0, allow_inf_nan=False)]


class CheckData(TypedDict):
    id: str
    status: Status
    points: _Points
    max_points: _Points
    message: str
    visibility: Visibility
    seconds: _Points


class ItemData(TypedDict):
    text: str
    points: int | Annotated[float, Field(allow_inf_nan=False)]  # a mistake takes some


class DecisionData(TypedDict):
    by: str
    comment: str
    items: NotRequired[list[ItemData]]
    awaits: NotRequired[str]


class ProblemData(TypedDict):
    id: str
    title: str
    chosen: NotRequired[str]
    status: Status
    points: _Points
    max_points: _Points
    bonus: NotRequired[Literal[True]]
    checks: list[CheckData]
    decision: NotRequired[DecisionData]


class LatenessData(TypedDict):
    handed_in: str
    deadline: str
    days: int
    rule: str
    points_before: _Points
    deduction: _Points


class IsolationData(TypedDict):
    missing: list[str]


class ReportData(TypedDict):
    """The part of `schema.json` that exporters use. Evidence is left out on purpose: it may hold students' output."""

    schema: Literal[1]
    submission: str
    rubric: str
    points: _Points
    max_points: _Points
    bonus_points: NotRequired[_Points]
    max_bonus: NotRequired[_Points]
    lateness: NotRequired[LatenessData]
    group: NotRequired[list[str]]
    not_handed_in: NotRequired[Literal[True]]
    not_graded_yet: NotRequired[Literal[True]]
    disputed: NotRequired[list[str]]
    provisional: bool
    seconds: _Points
    isolation: IsolationData
    notes: list[str]
    problems: list[ProblemData]


# By student: the name of the report's file. What a submission says of itself may name somebody else.
Reports = Mapping[str, ReportData]

_REPORT: TypeAdapter[ReportData] = TypeAdapter(ReportData)


@dataclass(frozen=True)
class Exported:
    """Texts by file name, and what the TA should know, a line each."""

    texts: Mapping[str, str]
    notes: tuple[str, ...] = ()


def read_reports(path: Path) -> tuple[Reports, tuple[str, ...]]:
    """The reports in a folder, or one in a file, and a line naming what in the folder is none."""
    if not path.exists():
        raise UsageError(f"{quote(str(path))}: there is no such folder of grades")
    if path.is_file():
        try:
            return {path.stem: _read(path)}, ()
        except ValueError as error:
            raise UsageError(f"{quote(str(path))}: {error}") from None
    reports: dict[str, ReportData] = {}
    others: list[str] = []
    for file in sorted(path.glob("*.json")):
        try:
            reports[file.stem] = _read(file)
        except ValueError as error:
            others.append(f"{file.name} ({error})")
    if not reports:
        why = f": {listed(others)}" if others else "; `grader batch … --out` makes them"
        raise UsageError(f"{quote(str(path))} holds no JSON reports{why}")
    return reports, (f"left out: {listed(others)}",) if others else ()


def report_from(data: object) -> ReportData:
    """A report that was made a moment ago, as exporters see it."""
    return _REPORT.validate_json(json.dumps(data), strict=True)


def _read(file: Path) -> ReportData:
    """ValueError in a few words if it is no report."""
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise ValueError(f"larger than {_MAX_BYTES >> 20} MiB")
        return _REPORT.validate_json(file.read_bytes(), strict=True)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise ValueError(_in_words(error)) from None


def _in_words(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return "not JSON"
    where = quote(".".join(str(step) for step in first["loc"]), 60) or "it"
    return f"not a report: {where} is {'missing' if first['type'] == 'missing' else 'not what a report holds there'}"


def ungraded(report: ReportData) -> list[str]:
    """The parts that could not be graded: our fault, so their points are neither zero nor full."""
    return [problem["id"] for problem in report["problems"] if problem["status"] == Status.UNGRADED]


def open_parts(report: ReportData) -> list[str]:
    """The parts that wait for a person, or for a second one; none of what is not graded yet."""
    if "not_graded_yet" in report:
        return []
    return [
        problem["id"]
        for problem in report["problems"]
        if problem["status"] in (Status.REVIEW, Status.UNGRADED) or "awaits" in problem.get("decision", {})
    ]


def not_final(reports: Reports) -> list[str]:
    """By part, how many of the class wait for a person."""
    counts = Counter(part for report in reports.values() for part in open_parts(report))
    order = dict.fromkeys(problem["id"] for report in reports.values() for problem in report["problems"])
    return [f"{part} ({counts[part]})" for part in order if counts[part]]


def decided_by(problem: ProblemData) -> str:
    """Who decided a part, and what they said about it; nothing if nobody did."""
    if "decision" not in problem:
        return ""
    decision = problem["decision"]
    items = "; ".join(item["text"] for item in decision.get("items", []))
    return one_line(": ".join(filter(None, (f"decided by {decision['by']}", items, decision["comment"]))))


def unpassed(problem: ProblemData) -> list[CheckData]:
    """The checks to give feedback on. What was left out for one reason is told once, as at the terminal. Where a person
    decided, nothing waits for one any more."""
    if not problem["max_points"]:
        return []
    settled = (Status.PASSED, *((Status.REVIEW, Status.UNGRADED) if "decision" in problem else ()))
    first: dict[str, CheckData] = {}
    for check in problem["checks"]:
        if check["status"] not in settled:
            first.setdefault(check["message"], check)
    return list(first.values())


def one_line(text: str) -> str:
    """A message as it may be shown anywhere: one line, nothing in it to obey."""
    return quote(text, _MESSAGE_CHARACTERS)


def titled(problem: ProblemData) -> str:
    title = f"{problem['title']}: {problem['chosen']}" if "chosen" in problem else problem["title"]
    return one_line(f"{title} (bonus)" if "bonus" in problem else title)


def out_of(part: ReportData | ProblemData | CheckData) -> str:
    return f"{part['points']} / {part['max_points']}"


def total(report: ReportData) -> str:
    """`67 / 60 + 7` where there is bonus."""
    return f"{report['points']} / {worth(report['max_points'], report.get('max_bonus', 0))}"


def left_out(problem: ProblemData) -> bool:
    """Optional, and not handed in: nobody asked for it."""
    return problem["status"] == Status.MISSING and not problem["max_points"]


def above(reports: Reports) -> list[str]:
    """Whose bonus lifts them above the maximum."""
    return [student for student, report in reports.items() if report["points"] > report["max_points"]]


def capped(reports: Reports) -> tuple[Reports, str]:
    """The same with nobody above the maximum, for programs that drop such grades; and whose grades that changed."""
    found = above(reports)
    if not found:
        return reports, "no grade lies above the maximum, so none was capped"
    given = dict(reports)
    for student in found:
        report = reports[student]
        note = f"{report['points']} points were earned; at most {report['max_points']} count here"
        given[student] = {**report, "points": report["max_points"], "notes": [*report["notes"], note]}
    verb = "was" if len(found) == 1 else "were"
    return given, f"{len(found)} of {len(reports)} grades {verb} capped at the maximum: {listed(found)}"


def remarks(report: ReportData) -> list[str]:
    """What holds for the whole report."""
    lines = [one_line(late)] if (late := about_lateness(report)) else []
    if "group" in report:
        lines.append(one_line(f"handed in together by {', '.join(report['group'])}"))
    lines += [one_line(note) for note in report["notes"]]
    if (parts := ungraded(report)) and "not_graded_yet" not in report:
        lines.append(f"{', '.join(parts)} could not be graded; the fault is the grader's, and staff will look at it")
    if any(problem["status"] == Status.REVIEW for problem in report["problems"]):
        lines.append("points are provisional: a person has still to look at what is marked review")
    if missing := report["isolation"]["missing"]:
        lines.append(f"graded without these layers of isolation: {', '.join(map(one_line, missing))}")
    return lines


def listed(names: list[str]) -> str:
    """Names in one line, however many there are."""
    shown = ", ".join(quote(name, 80) for name in names[:_NAMES_IN_A_LINE])
    more = len(names) - _NAMES_IN_A_LINE
    return f"{shown} and {more} more" if more > 0 else shown
