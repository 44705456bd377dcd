"""A student's grade: the latest result with what people decided on top, as the JSON report has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from grader.batch.gradebook import Gradebook, Result
from grader.batch.item_log import Item
from grader.batch.request_log import Request
from grader.batch.rulings import OPEN, Decision, Kind, Standing, on_what
from grader.batch.totals import marked, totals
from grader.model import Status
from grader.report.points import rounded

_EARNS_NOTHING = (Status.FAILED, Status.CRASHED, Status.MISSING, Status.SKIPPED)


def current_grade(gradebook: Gradebook, result: Result) -> dict[str, Any]:
    """With what stands in the gradebook now."""
    standing = gradebook.decisions.standing(result.student)
    held = [item for one in standing.values() if one.decision for item in one.decision.items]
    requests = gradebook.requests.all(student=result.student)
    return grade_of(result, standing, gradebook.items.known(held) if held else {}, requests)


def grade_of(
    result: Result,
    standing: Mapping[str, Standing],
    items: Mapping[str, Item] | None = None,
    requests: Sequence[Request] = (),
) -> dict[str, Any]:
    """The report with what people decided in place of what was found. A part that a person decided is settled; one that
    was decided on another answer waits for a person again, whatever the grader found in the new one."""
    exact = {part: Fraction(points) for part, points in result.exact["points"].items()}
    problems = []
    for problem in result.report["problems"]:
        part, stands = problem["id"], standing.get(problem["id"], Standing())
        worth = Fraction(result.exact["worth"][part])
        if stands.decision is not None and stands.decision.points is not None:
            exact[part] = stands.decision.points
            problem = _decided(problem, stands, worth, items or {})
        elif stands.earlier is not None:
            problem = _open_again(problem, stands.earlier)
        if asked := [_request(one) for one in requests if one.part == part]:
            problem = {**problem, "regrade": asked}
        problems.append(problem)
    return {
        **result.report,
        **totals(result, exact),
        "provisional": any(one["status"] in OPEN or _awaits(one) for one in problems),
        "problems": marked(result, problems),
    }


def _decided(problem: dict[str, Any], stands: Standing, worth: Fraction, items: Mapping[str, Item]) -> dict[str, Any]:
    decision, awaits = stands.decision, stands.awaits
    assert decision is not None
    assert decision.points is not None
    held = [items[one] for one in decision.items if one in items]
    said = {
        "by": decision.by,
        "at": decision.at,
        "kind": str(decision.kind),
        "comment": decision.comment,
        "items": [_item(one) for one in held],
        "was": problem["points"],
        "found": problem["status"],
        **_adjusted(decision.points, held),
        **({"awaits": awaits} if awaits else {}),
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


def _awaits(problem: dict[str, Any]) -> bool:
    """Whether a decision is still to be confirmed by a second person, or by a last word where two differ."""
    return "awaits" in problem.get("decision", {})


def _item(item: Item) -> dict[str, Any]:
    """Its words as they are now; ids are the gradebook's own."""
    return {"text": item.text, "points": rounded(item.points)}


def _adjusted(points: Fraction, items: Sequence[Item]) -> dict[str, Any]:
    """What was given or taken beside the items, so that a student can add up."""
    beside = points - sum((item.points for item in items), Fraction(0))
    return {"adjusted": rounded(beside)} if items and beside else {}


def _request(request: Request) -> dict[str, Any]:
    said: dict[str, Any] = {"at": request.at, "text": request.text}
    if request.reply is not None:
        reply = request.reply
        points = {"was": rounded(reply.was), "points": rounded(reply.points)}
        said["reply"] = {"text": reply.text, "by": reply.by, "at": reply.at, **points}
    return said


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
