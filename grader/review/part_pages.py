"""Pages about all answers to one part: their groups, the items they are decided by, and accepting many at once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from starlette.responses import Response

from grader.errors import UsageError
from grader.quoting import quote
from grader.report.points import shown
from grader.report.typesetting import typeset
from grader.review.grouping import Group
from grader.review.refs import Ref
from grader.review.visit import Visit, key_of

_PER_PAGE = 30  # groups; in prose many answers stand alone
_DIGITS = 7
_LISTED = 40  # members of one group; the rest is counted
_BEGINNING = 400


def groups(visit: Visit) -> Response:
    part = visit.part.part
    found = visit.desk.groups(part)
    asked = visit.request.query_params.get("from", "")
    start = min(int(asked), len(found)) if asked.isascii() and asked.isdigit() and len(asked) < _DIGITS else 0
    shown_ones = found[start : start + _PER_PAGE]
    listed = [(group, _first(visit, group), _members(visit, group)) for group in shown_ones]
    pages = [(number // _PER_PAGE + 1, number, number == start) for number in range(0, len(found), _PER_PAGE)]
    return visit.page("groups.html", part=part, overview=visit.part, groups=listed, total=len(found), pages=pages)


def _first(visit: Visit, group: Group) -> dict[str, Any]:
    view = visit.desk.view((group.open or group.members)[0])
    text = next((piece["text"] for piece in view.pieces if piece.get("text")), "")
    said = next((check["message"] for check in visit.checks(view) if check["status"] != "passed"), "")
    return {"begins": typeset(text[:_BEGINNING]), "said": quote(said, _BEGINNING), "points": view.found_points}


def _members(visit: Visit, group: Group) -> list[tuple[str, str]]:
    shown_first = [*group.open, *(ref for ref in group.members if ref not in group.open)][:_LISTED]
    return [(visit.address(ref), visit.label(ref)) for ref in shown_first]


def join(visit: Visit) -> Response:
    part = visit.part.part
    chosen = visit.form.get("group", [])
    if len(chosen) < 2:
        raise UsageError("tick two groups or more to join them")
    visit.desk.join(part, chosen)
    return visit.to(f"{visit.address_of_part(part)}/groups", f"{len(chosen)} groups are one now.")


def items(visit: Visit) -> Response:
    part = visit.part.part
    return visit.page("items.html", part=part, overview=visit.part, items=visit.desk.items(part))


def change_item(visit: Visit) -> Response:
    """Add an item, or change one for everybody who has it."""
    part = visit.part.part
    text, points = visit.typed("text").strip(), visit.typed_points("points")
    if not text or points is None:
        raise UsageError("an item needs words and points, such as 0.5 or -1")
    if abs(points) > visit.part.worth:
        raise UsageError(f"{part} is worth {shown(visit.part.worth)} points, so no item can be {shown(points)}")
    place = f"{visit.address_of_part(part)}/items"
    if not (item := visit.typed("item")):
        visit.desk.add_item(part, text, points)
        return visit.to(place, "The item is there.")
    act = visit.desk.edit_item(item, text=text, points=points)
    return visit.to(place, f"Changed for {len(act.decisions)} answers that have it. Undo takes it back.")


def bulk(visit: Visit) -> Response:
    """A drawn sample to look at, then one button for all."""
    part = visit.part.part
    found = visit.desk.bulk(part)
    sample = [_in_sample(visit, ref) for ref in visit.desk.sample(found)]
    return visit.page(
        "bulk.html", part=part, overview=visit.part, sample=sample, count=len(found.ready), excluded=found.excluded
    )


def _in_sample(visit: Visit, ref: Ref) -> dict[str, Any]:
    view = visit.desk.view(ref)
    said = [check["message"] for check in visit.checks(view) if check["status"] == "review"]
    return {
        "key": key_of(ref.student),
        "address": visit.address(ref),
        "label": visit.label(ref),
        "pieces": visit.pieces(view),
        "said": said,
        "points": view.found_points,
        "worth": view.worth,
    }


def accept_in_bulk(visit: Visit) -> Response:
    part = visit.part.part
    seen = [visit.ref_of(key) for key in visit.form.get("seen", [])]
    act = visit.desk.accept_found(part, seen)
    accepted = sum((one.points or Fraction(0) for one in act.decisions), Fraction(0))
    return visit.to(
        f"{visit.address_of_part(part)}/groups",
        f"{len(act.decisions)} answers accepted as found, {shown(accepted)} points in all. Undo takes it back.",
    )
