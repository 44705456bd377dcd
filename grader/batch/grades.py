"""A student's grade: the latest result with what people decided on top, as the JSON report has it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from grader.batch.decision_log import OPEN, Decision, Kind, Standing, on_what
from grader.batch.gradebook import Gradebook, Result
from grader.model import Status
from grader.report.points import rounded

_EARNS_NOTHING = (Status.FAILED, Status.CRASHED, Status.MISSING, Status.SKIPPED)


def current_grade(gradebook: Gradebook, result: Result) -> dict[str, Any]:
    """With what stands in the gradebook now."""
    return grade_of(result, gradebook.decisions.standing(result.student))


def current_points(gradebook: Gradebook, result: Result) -> tuple[Fraction, Fraction]:
    """Exactly: all points with what people decided, and the maximum without bonus."""
    exact = _exact(result, gradebook.decisions.standing(result.student))
    optional = _optional(result.definition)
    worth = {part: Fraction(text) for part, text in result.exact["worth"].items()}
    most = sum((worth[part] for part in worth if part not in optional), Fraction(0))
    return sum(exact.values(), Fraction(0)), most


def _exact(result: Result, standing: Mapping[str, Standing]) -> dict[str, Fraction]:
    found = {part: Fraction(points) for part, points in result.exact["points"].items()}
    for part, stands in standing.items():
        if part in found and stands.decision is not None and stands.decision.points is not None:
            found[part] = stands.decision.points
    return found


def grade_of(result: Result, standing: Mapping[str, Standing]) -> dict[str, Any]:
    """The report with what people decided in place of what was found. A part that a person decided is settled; one that
    was decided on another answer waits for a person again, whatever the grader found in the new one."""
    exact = _exact(result, standing)
    problems, optional = [], _optional(result.definition)
    for problem in result.report["problems"]:
        part, stands = problem["id"], standing.get(problem["id"], Standing())
        worth_of_part = Fraction(result.exact["worth"][part])
        if part in optional:
            problem = {**problem, "bonus": True}
        if stands.decision is not None and stands.decision.points is not None:
            problem = _decided(problem, stands.decision, worth_of_part)
        elif stands.earlier is not None:
            problem = _open_again(problem, stands.earlier)
        problems.append(problem)
    bonus = {one["id"] for one in problems if one.get("bonus")}
    worth = {part: Fraction(result.exact["worth"][part]) for part in exact}
    most = sum((worth[part] for part in exact if part not in bonus), Fraction(0))
    return {
        **result.report,
        "points": rounded(sum(exact.values(), Fraction(0))),
        "max_points": rounded(most),
        **_bonus(exact, worth, bonus),
        "provisional": any(one["status"] in OPEN for one in problems),
        "problems": problems,
    }


def _bonus(exact: Mapping[str, Fraction], worth: Mapping[str, Fraction], optional: Collection[str]) -> dict[str, Any]:
    """What of the points is bonus; nothing, where no part is optional."""
    if not any(worth[part] for part in optional):
        return {}
    earned, most = (sum((of[part] for part in optional), Fraction(0)) for of in (exact, worth))
    return {"bonus_points": rounded(earned), "max_bonus": rounded(most)}


@lru_cache(maxsize=64)
def _optional(definition: str) -> frozenset[str]:
    """Asked of the definition, because reports did not always say it; a class has few of them."""
    problems = json.loads(definition).get("problems", {})
    return frozenset(part for part, asked in problems.items() if asked["optional"])


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
