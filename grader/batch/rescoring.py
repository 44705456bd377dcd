"""New points or thresholds on old evidence: a report made anew without running a line of student code."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from grader.batch.fingerprints import Definition, definition
from grader.batch.gradebook import Result
from grader.grading.engine import blocked, doubted, status_of
from grader.model import (
    CAN_BE_OPENED,
    COULD_BE_GRADED,
    Check,
    CheckResult,
    Isolation,
    Outcome,
    Problem,
    ProblemResult,
    Report,
    Rubric,
    Status,
)
from grader.registry import rescorer_for
from grader.submission.alternatives import ONE_ALTERNATIVE, stand_in

# What stands in for checks that were not run: no alternative was handed in, or nothing could be opened at all.
_STAND_INS = (ONE_ALTERNATIVE, CAN_BE_OPENED, COULD_BE_GRADED)


class NeedsGrading(Exception):
    """The change touches what was asked, not only what it is worth; the text says where."""


def rescored(result: Result, rubric: Rubric) -> Report:
    """The report this rubric would have given; NeedsGrading if only the student's code could tell."""
    before, now = json.loads(result.definition)["problems"], definition(rubric)["problems"]
    stored = {problem["id"]: problem for problem in result.report["problems"]}
    problems = []
    for problem in rubric.problems:
        if problem.id not in before or problem.id not in stored:
            raise NeedsGrading(f"{problem.id} is new")
        problems.append(_problem(problem, stored[problem.id], before[problem.id], now[problem.id], result))
    if gone := [part for part in before if part not in now]:
        raise NeedsGrading(f"{gone[0]} is gone")
    report = result.report
    isolation = Isolation(tuple(report["isolation"]["layers"]), tuple(report["isolation"]["missing"]))
    notes = tuple(report["notes"])
    return Report(
        submission=report["submission"],
        rubric=rubric,
        seed=report["seed"],
        problems=tuple(problems),
        isolation=isolation,
        seconds=report["seconds"],
        notes=notes,
        secret=report.get("secret", ""),
    )


def _problem(
    problem: Problem, stored: dict[str, Any], before: Definition, now: Definition, result: Result
) -> ProblemResult:
    if problem.best_counts and before != now:
        raise NeedsGrading(f"{problem.id}: another of its alternatives may count now")
    for name in before.keys() - {"checks", "alternatives"}:
        if before[name] != now[name]:
            raise NeedsGrading(f"{problem.id}: '{name}' has changed")
    if _without_checks(before) != _without_checks(now):
        raise NeedsGrading(f"{problem.id}: its alternatives have changed")
    chosen = stored.get("chosen", "")
    checks = {check.id: check for check in problem.checks}
    old, new = dict(before["checks"]), dict(now["checks"])
    for alternative in problem.alternatives:
        if alternative.name == chosen:
            checks = {check.id: check for check in (*alternative.checks, *problem.checks)}
            old = before["alternatives"][chosen]["checks"] | old
            new = now["alternatives"][chosen]["checks"] | new
    if list(old) != list(new):
        raise NeedsGrading(f"{problem.id}: its checks are not the same")
    results: list[CheckResult] = []
    gates: list[str] = []
    for one in stored["checks"]:
        if one["id"] not in checks and one["id"] not in _STAND_INS:
            raise NeedsGrading(f"{problem.id}: its checks are not the same")
        check = checks.get(one["id"]) or stand_in(one["id"], problem.points - _shared(problem, one["id"]))
        score = Fraction(result.exact["scores"][f"{problem.id}/{one['id']}"])
        outcome = Outcome(
            Status(one["status"]), score, one["message"], evidence=one["evidence"], code=one.get("code", "")
        )
        if check.id in old:
            waiting = blocked(check, gates, results)
            outcome = waiting or _judged_again(problem, check, outcome, old[check.id], new[check.id])
        results.append(CheckResult(check, outcome, check.points * outcome.score, one["seconds"]))
        if check.gate:
            gates.append(check.id)
    scores = {one["id"]: Fraction(result.exact["scores"][f"{problem.id}/{one['id']}"]) for one in stored["checks"]}
    _expect_the_same_doubts(problem, results, {name for name, score in scores.items() if score})
    results = doubted(results)
    points = sum((result.points for result in results), Fraction(0))
    status, judged = status_of(results, points, problem.points), stored.get("judged", {})
    return ProblemResult(problem, status, points, tuple(results), chosen, judged)


def _expect_the_same_doubts(problem: Problem, results: list[CheckResult], earned_before: set[str]) -> None:
    """Of what waited for a TA, what it would have earned is not stored."""
    earned = {result.check.id for result in results if result.outcome.score}
    for check in (result.check for result in results):
        if any(earned.isdisjoint(ids) != earned_before.isdisjoint(ids) for ids in check.review_unless.values()):
            raise NeedsGrading(f"{problem.id} {check.id}: whether it needs review may have changed")


def _without_checks(problem: Definition) -> dict[str, Any]:
    return {name: {**one, "checks": list(one["checks"])} for name, one in problem["alternatives"].items()}


def _shared(problem: Problem, replaced_by: str) -> Fraction:
    """What the checks beside an undecided alternative earn; in place of all checks stands one with all points."""
    return sum((check.points for check in problem.checks if replaced_by == _STAND_INS[0]), Fraction(0))


def _judged_again(problem: Problem, check: Check, stored: Outcome, old: Definition, new: Definition) -> Outcome:
    where = f"{problem.id} {check.id}"
    for name in old:
        if name != "parameters" and old[name] != new[name]:
            raise NeedsGrading(f"{where}: '{name}' has changed")
    names = old["parameters"].keys() | new["parameters"].keys()
    changed = sorted(name for name in names if old["parameters"].get(name) != new["parameters"].get(name))
    if stored.status in (Status.UNGRADED, Status.SKIPPED):  # and now nothing keeps it from being tried
        raise NeedsGrading(f"{where}: it was not tried before")
    if not changed:
        return stored
    rescorer = rescorer_for(check.function, changed)
    outcome = rescorer(stored, **check.parameters) if rescorer else None
    if outcome is None:
        raise NeedsGrading(f"{where}: '{changed[0]}' has changed")
    return outcome
