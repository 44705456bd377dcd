"""A student's grade: the latest result with overrides on top, as the JSON report has it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from grader.batch.gradebook import Override, Result
from grader.model import Status
from grader.report.points import rounded

_UNDECIDED = (str(Status.REVIEW), str(Status.UNGRADED))


def grade_of(result: Result, standing: Mapping[str, Override]) -> dict[str, Any]:
    """The report with the points of overridden parts replaced and marked. A part that a person decided is settled."""
    problems = [_decided(problem, result, standing.get(problem["id"])) for problem in result.report["problems"]]
    exact = {part: Fraction(points) for part, points in result.exact["points"].items()}
    exact |= {part: override.new for part, override in standing.items() if part in exact and override.new is not None}
    most = sum((Fraction(result.exact["worth"][one["id"]]) for one in problems if one["max_points"]), Fraction(0))
    return {
        **result.report,
        "points": rounded(sum(exact.values(), Fraction(0))),
        "max_points": rounded(most),
        "provisional": any(one["status"] in _UNDECIDED and "override" not in one for one in problems),
        "problems": problems,
    }


def _decided(problem: dict[str, Any], result: Result, override: Override | None) -> dict[str, Any]:
    if override is None or override.new is None:
        return problem
    said = {"was": problem["points"], "by": override.by, "why": override.why, "at": override.at}
    return {
        **problem,
        "points": rounded(override.new),
        "max_points": rounded(Fraction(result.exact["worth"][problem["id"]])),
        "override": said,
    }
