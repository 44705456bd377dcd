"""One answer: the page on which it is read and decided."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from grader.batch.rulings import AnswerChanged
from grader.errors import StaffFault, UsageError
from grader.quoting import quote, visible
from grader.report.answer_display import boxes_on, pages_of
from grader.report.html import check_entries
from grader.report.points import shown
from grader.report.typesetting import typeset
from grader.review.answer_views import AnswerView
from grader.review.grouping import SAME_TEXT, Group
from grader.review.handed_in_files import NotShown
from grader.review.leases import LeasedByAnother
from grader.review.page_templates import exact
from grader.review.refs import Ref
from grader.review.visit import NotThere, Visit, key_of

_CHANGED = "one of these answers was graded again, or decided by somebody else meanwhile; look at it again"
_OTHERS = 12  # of a group, beside the answer that is shown


def next_open(visit: Visit) -> Response:
    """The next open answer of this part, in this reviewer's own order; the list of groups where none is left."""
    after = visit.request.query_params.get("after")
    back = visit.request.query_params.get("back") == "1"
    said = visit.room.note(visit.request.query_params.get("said", ""))
    return _to_next(visit, visit.ref_of(after) if after else None, said, back=back)


def _to_next(visit: Visit, after: Ref | None, said: str, *, back: bool = False) -> Response:
    part = visit.request.path_params["part"]
    found = visit.desk.next(part, after, back=back)
    if found is None or found == after:
        nothing = "No other answer to this part is open for you." if after else "Nothing of this part is open for you."
        return visit.to(f"{visit.address_of_part(part)}/groups", f"{said} {nothing}".strip())
    return visit.to(visit.address(found), said)


def show(visit: Visit) -> Response:
    return _page(visit)


def _page(visit: Visit, *, status: int = 200, fault: str = "", typed: bool = False) -> Response:
    """The answer; with what was typed in place of what stands, after a form that could not be carried out."""
    view = visit.desk.view(visit.ref)
    group = visit.desk.group_of(visit.ref)
    held = ""
    if view.decision is None:
        try:
            visit.desk.lease(visit.ref)
        except LeasedByAnother as cause:
            held = quote(str(cause), 200)
    items = visit.desk.items(visit.ref.part)
    chosen = set(visit.form.get("item", [])) if typed else set(view.items if view.decision else view.suggested)
    total = min(max(sum((one.points for one in items if one.id in chosen), Fraction(0)), Fraction(0)), view.worth)
    comment = visit.typed("comment") if typed else view.comment
    return visit.page(
        "answer.html",
        status,
        fault=fault,
        part=visit.ref.part,
        overview=visit.part,
        view=view,
        key=key_of(visit.ref.student),
        address=visit.address(visit.ref),
        held=held,
        beats=view.decision is None and not held,
        pieces=visit.pieces(view),
        entries=check_entries({"checks": visit.checks(view), "status": view.found_status}),
        items=items,
        chosen=chosen,
        total=total,
        typed_points=visit.typed("points") if typed else _free_points(view, total),
        comment=Markup("{}").format(visible(comment)),
        whole_group=typed and "whole_group" in visit.form,
        group=group,
        versions=_versions(visit, group),
        others=_others(visit, group),
        more_others=max(len(group.members) - 1 - _OTHERS, 0),
    )


def _free_points(view: AnswerView, total: Fraction) -> str:
    if view.decision is None or view.decision.points is None or (view.items and view.decision.points == total):
        return ""
    return exact(view.decision.points)


def _versions(visit: Visit, group: Group) -> list[tuple[str, str]]:
    """Of each open member what a decision must be sent with; nothing where the answer stands alone."""
    if len(group.open) < 2:
        return []
    return [(key_of(ref.student), version) for ref, version in visit.desk.versions(group.open).items()]


def _others(visit: Visit, group: Group) -> list[dict[str, Any]]:
    """Other members, those that are open first, with how they begin where that is not the same."""
    own = [ref for ref in group.members if ref != visit.ref]
    listed = sorted(own, key=lambda ref: ref not in group.open)[:_OTHERS]
    begin = {} if group.why == SAME_TEXT else visit.desk.beginnings(listed)
    return [
        {
            "address": visit.address(ref),
            "label": visit.label(ref),
            "state": "open" if ref in group.open else "not open",
            "begins": typeset(begin.get(ref, "")),
        }
        for ref in listed
    ]


def decide(visit: Visit) -> Response:
    """Save, accept, none or full, for one answer or all open ones of its group; then on to the next."""
    try:
        refs, said = _decided(visit)
    except StaffFault as cause:
        hidden = isinstance(cause, AnswerChanged) and not visit.room.names  # it says whose answer it is
        fault = _CHANGED if hidden else quote(str(cause), 400)
        return _page(visit, status=409, fault=fault, typed=True)
    how_many = f"{len(refs)} answers" if len(refs) > 1 else "One answer"
    return _to_next(visit, visit.ref, f"{how_many} decided: {said}. Undo takes it back.")


def _decided(visit: Visit) -> tuple[Sequence[Ref], str]:
    versions = {visit.ref: visit.typed("version")}
    if "whole_group" in visit.form:
        for member in visit.form.get("member", []):
            key, _, version = member.partition(" ")
            versions[visit.ref_of(key)] = version
    refs = list(versions)
    comment = visit.typed("comment").strip()
    worth = visit.desk.view(visit.ref).worth
    match visit.typed("action"):
        case "accept":
            visit.desk.accept(refs, versions, comment=comment)
            return refs, "what the grader found"
        case "full" | "none" as action:
            points = worth if action == "full" else Fraction(0)
            visit.desk.decide(refs, points=points, comment=comment, versions=versions)
            return refs, f"{shown(points)} of {shown(worth)}"
        case "decide":
            items, typed = tuple(visit.form.get("item", [])), visit.typed_points("points")
            if not items and typed is None:
                raise UsageError("nothing is chosen: tick an item, type points, or press Accept, None or Full")
            act = visit.desk.decide(refs, items=items, points=typed, comment=comment, versions=versions)
            stands = act.decisions[0].points
            return refs, f"{shown(stands or Fraction(0))} of {shown(worth)}"
    raise UsageError("this form asks for nothing that can be done")


def take_out(visit: Visit) -> Response:
    visit.desk.take_out(visit.ref)
    return visit.to(visit.address(visit.ref), "This answer stands alone now.")


def keep_lease(visit: Visit) -> Response:
    try:
        visit.desk.lease(visit.ref)
    except LeasedByAnother:
        return Response(status_code=409)
    return Response(status_code=204)


def page_of_pdf(visit: Visit) -> Response:
    view = visit.desk.view(visit.ref)
    number, page = visit.request.path_params["piece"], visit.request.path_params["page"]
    if number >= len(view.pieces) or page not in pages_of(view.pieces[number]):
        raise NotThere("There is no such page.")
    piece = view.pieces[number]
    whole = visit.request.query_params.get("whole") == "1"
    try:
        boxes = boxes_on(piece, page)
        picture = visit.room.files.picture(visit.ref.student, piece["file"], page, boxes, whole=whole)
    except NotShown as cause:
        return Response(str(cause), 404, media_type="text/plain")
    return Response(picture, media_type="image/png")
