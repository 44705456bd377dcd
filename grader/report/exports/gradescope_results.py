"""`results.json` as Gradescope reads it: https://gradescope-autograders.readthedocs.io/en/latest/specs/

Gradescope knows no bonus: tests of bonus parts have the maximum 0, so that all maxima add up to the assignment's.

Gradescope knows no "ungraded". It hides the total from students as soon as one test is hidden, so what could not be
graded adds a hidden test that names it: students read that something is still open, staff see what, and no zero is
shown as a mark.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import Any

from grader.model import Status
from grader.report.exports.reports import (
    CheckData,
    ProblemData,
    ReportData,
    decided_by,
    left_out,
    one_line,
    remarks,
    titled,
    ungraded,
)


class HiddenChecks(StrEnum):
    """When students see hidden checks."""

    NEVER = "hidden"
    AFTER_PUBLISHED = "after_published"


def results(
    report: ReportData,
    hidden: HiddenChecks = HiddenChecks.NEVER,
    withheld: Collection[str] = (),
    *,
    leaderboard: bool = False,
) -> dict[str, Any]:
    """`withheld`: public checks, as PART:CHECK, that students see only after grades are published."""
    tests = [
        test for problem in report["problems"] if not left_out(problem) for test in _tests(problem, hidden, withheld)
    ]
    open_parts = ungraded(report)
    if open_parts:
        tests.append(_staff_only(f"Ungraded: {', '.join(open_parts)}", "the autograder's output says why", 0))
    return {
        "score": report["points"],
        "execution_time": report["seconds"],
        "output": "\n".join(remarks(report)),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        **(
            {"leaderboard": [{"name": "Points in public checks", "value": _public_points(report, withheld)}]}
            if leaderboard
            else {}
        ),
    }


def failure(max_points: int | float) -> dict[str, Any]:
    """What is there before grading begins, and stays if it never ends."""
    return {
        "score": 0,
        "output": "This has not been graded: the grader itself failed. That is not your fault, and no mark has been "
        "given. Course staff can see it and will run it again.",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_staff_only("Ungraded: everything", "the grader failed; its output says why", max_points)],
    }


def as_text(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _tests(problem: ProblemData, hidden: HiddenChecks, withheld: Collection[str]) -> Iterator[dict[str, Any]]:
    """A test for each check. Where a person decided the part, one test has its points, and the others only say what was
    found."""
    if decided := decided_by(problem):
        yield {
            "score": problem["points"],
            "max_score": 0 if "bonus" in problem else problem["max_points"],
            "status": "passed" if problem["status"] == Status.PASSED else "failed",
            "name": titled(problem),
            "number": problem["id"],
            "output": decided,
            "output_format": "text",
            "visibility": "visible",
            "tags": ["decided"],
        }
    for number, check in enumerate(problem["checks"], start=1):
        visibility = _visibility(problem, check, hidden, withheld)
        status, max_points = _status(check), 0 if "bonus" in problem else check["max_points"]
        yield {
            **({} if decided else {"score": check["points"], "max_score": max_points}),
            **({"status": status} if status else {}),
            "name": f"{titled(problem)}: {check['id']}",
            "number": f"{problem['id']}.{number}",
            "output": "" if visibility == HiddenChecks.NEVER else _output(check, bool(decided)),
            "output_format": "text",
            "visibility": visibility,
            "tags": [] if decided and not status else [check["status"]],
        }


def _visibility(problem: ProblemData, check: CheckData, hidden: HiddenChecks, withheld: Collection[str]) -> str:
    if check["visibility"] == "hidden":
        return hidden.value
    return HiddenChecks.AFTER_PUBLISHED.value if _named(problem, check) in withheld else "visible"


def _named(problem: ProblemData, check: CheckData) -> str:
    return f"{problem['id']}:{check['id']}"


def _output(check: CheckData, decided: bool) -> str:
    message = one_line(check["message"])
    return message if decided and not _status(check) else f"{check['status']}: {message}"


def _status(check: CheckData) -> str:
    """Gradescope has two. Where a person still decides, it is given neither."""
    if check["status"] in (Status.REVIEW, Status.UNGRADED):
        return ""
    return "passed" if check["status"] == Status.PASSED else "failed"


def _staff_only(name: str, output: str, max_points: int | float) -> dict[str, Any]:
    return {
        "score": 0,
        "max_score": max_points,
        "status": "failed",
        "name": name,
        "number": "0",
        "output": output,
        "output_format": "text",
        "visibility": "hidden",
        "tags": ["ungraded"],
    }


def _public_points(report: ReportData, withheld: Collection[str]) -> int | float:
    """What students do not see at once stays out of it: a leaderboard is read by everyone."""
    checks = [(problem, check) for problem in report["problems"] for check in problem["checks"]]
    seen = [one for problem, one in checks if one["visibility"] == "public" and _named(problem, one) not in withheld]
    return round(sum(check["points"] for check in seen), 2)
