"""Pages about the whole class: what is open, where reviewers differ, what students ask for, and help."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from grader.batch.request_log import Request
from grader.errors import UsageError
from grader.report.points import shown
from grader.review.double_marking import Difference
from grader.review.refs import Ref
from grader.review.visit import NotThere, Visit

_LAST_ID = 2**63 - 1  # of a row in SQLite

KEYS = (
    ("1–9", "tick or untick an item"),
    ("Enter", "save what is ticked and typed, and go on"),
    ("a", "accept what the grader found, and go on"),
    ("0", "no points, and go on"),
    ("f", "full points, and go on"),
    ("g", "the next of these decides all open answers of the group"),
    ("c", "write a comment; Escape leaves it, Ctrl+Enter saves"),
    ("p", "type points in place of the items' sum"),
    ("j", "next open answer to this part"),
    ("k", "previous open answer to this part"),
    ("u", "undo the last thing you did, all of it"),
    ("?", "this help"),
)


def overview(visit: Visit) -> Response:
    return visit.page("overview.html")


def show_help(visit: Visit) -> Response:
    return visit.page("help.html", keys=KEYS)


def undo(visit: Visit) -> Response:
    """Back to what was decided, which is open again."""
    act = visit.desk.undo()
    if act is None:
        return visit.to(f"{visit.root}/", "There is nothing left that you could undo.")
    students = {one.student for one in act.decisions}
    if not act.decisions:
        return visit.to(f"{visit.root}/", f"Undone: {act.kind}.")
    first = act.decisions[0]
    if len(students) == 1:
        return visit.to(visit.address(Ref(first.student, first.part)), f"Undone: {act.kind} of this answer.")
    said = f"Undone: {act.kind} of {len(act.decisions)} answers to {first.part}."
    return visit.to(f"{visit.address_of_part(first.part)}/groups", said)


def agreement(visit: Visit) -> Response:
    found = visit.desk.agreement()
    differences = [_difference(visit, one) for part in found for one in part.differences]
    return visit.page("agreement.html", agreement=found, differences=differences, double=visit.room.double)


def _difference(visit: Visit, one: Difference) -> dict[str, Any]:
    view = visit.desk.view(one.ref)
    return {
        "part": one.ref.part,
        "label": visit.label(one.ref),
        "address": visit.address(one.ref),
        "pieces": visit.pieces(view),
        "worth": view.worth,
        "decisions": (one.first, one.second),
    }


def settle(visit: Visit) -> Response:
    """The last word on a difference."""
    points = visit.typed_points("points")
    if points is None:
        raise UsageError("type the points that are to stand")
    visit.desk.settle(visit.ref, points=points, comment=visit.typed("comment").strip())
    return visit.to(f"{visit.root}/agreement", f"Settled: {shown(points)} of {shown(visit.part.worth)}.")


def requests(visit: Visit) -> Response:
    everything = visit.request.query_params.get("all") == "1"
    found = [_request(visit, one) for one in visit.desk.requests(open_only=not everything)]
    return visit.page("requests.html", requests=found, everything=everything)


def _request(visit: Visit, one: Request) -> dict[str, Any]:
    ref = Ref(one.student, one.part)
    view = visit.desk.view(ref)
    return {
        "request": one,
        "label": visit.label(ref),
        "address": visit.address(ref),
        "pieces": visit.pieces(view),
        "view": view,
    }


def answer_request(visit: Visit) -> Response:
    number = visit.request.path_params["id"]
    if number > _LAST_ID:
        raise NotThere("There is no such request.")
    reply = visit.typed("reply").strip()
    if not reply:
        raise UsageError("the student reads the reply: write one")
    visit.desk.answer_request(number, reply, points=visit.typed_points("points"))
    return visit.to(f"{visit.root}/requests", "The request is answered.")
