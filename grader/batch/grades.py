"""A student's grade: the latest result with what people decided on top, as the JSON report has it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from grader.batch.decision_log import OPEN, Decision, Kind, Standing, on_what
from grader.batch.gradebook import Gradebook, Result
from grader.batch.totals import marked, totals
from grader.model import Status
from grader.report.points import rounded

_EARNS_NOTHING = (Status.FAILED, Status.CRASHED, Status.MISSING, Status.SKIPPED)


def current_grade(gradebook: Gradebook, result: Result) -> dict[str, Any]:
    """With what stands in the gradebook now."""
    return grade_of(result, gradebook.decisions.standing(result.student))


def grade_of(result: Result, standing: Mapping[str, Standing]) -> dict[str, Any]:
    """The report with what people decided in place of what was found. A part that a person decided is settled; one that
    was decided on another answer waits for a person again, whatever the grader found in the new one."""
    exact = {part: Fraction(points) for part, points in result.exact["points"].items()}
    problems = []
    for problem in result.report["problems"]:
        part, stands = problem["id"], standing.get(problem["id"], Standing())
        worth = Fraction(result.exact["worth"][part])
        if stands.decision is not None and stands.decision.points is not None:
            exact[part] = stands.decision.points
            problem = _decided(problem, stands.decision, worth)
        elif stands.earlier is not None:
            problem = _open_again(problem, stands.earlier)
        problems.append(problem)
    return {
        **result.report,
        **totals(result, exact),
        "provisional": any(one["status"] in OPEN for one in problems),
        "problems": marked(result, problems),
    }


def _decided(problem: dict[str, Any], decision: Decision, worth: Fraction) -> dict[str, Any]:
    assert decision.points is not None
    said = {
        "by": decision.by,
        "at": decision.at,
        "kind": str(decision.kind),
        "comment": decision.comment,
        "items": list(decision.items),
        "was": problem["points"],
        "found": problem["status"],
    }
    decided = {
        **problem,
        "status": str(_status(decision.points, worth, Status(problem["status"]))),
        "points": rounded(decision.points),
        "max_points": rounded(worth),
        "decision": said,
    }
    if decision.kind is Kind.OVERRIDE:  # as reports said it before there were other kinds
        decided["override"] = {"was": said["was"], "by": said["by"], "why": said["comment"], "at": said["at"]}
    return decided


def _status(points: Fraction, worth: Fraction, found: Status) -> Status:
    """As the points say; what earned nothing before keeps its reason."""
    if points == worth:
        return Status.PASSED
    if points:
        return Status.PARTIAL
    return found if found in _EARNS_NOTHING else Status.FAILED


def _open_again(problem: dict[str, Any], earlier: Decision) -> dict[str, Any]:
    assert earlier.points is not None
    said = {"points": rounded(earlier.points), "by": earlier.by, "at": earlier.at, "comment": earlier.comment}
    said["on"] = on_what(earlier)
    status = problem["status"] if problem["status"] in OPEN else str(Status.REVIEW)
    return {**problem, "status": status, "decided_before": said}
