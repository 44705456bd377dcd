"""One request: who came, the desk they sit at, and the pages they get."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_address

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from grader.batch.gradebook import Gradebook
from grader.errors import StaffFault, UsageError
from grader.quoting import quote, visible
from grader.report.answer_display import ShownPiece, shown_pieces, without_names
from grader.report.typesetting import Span
from grader.review.answer_views import AnswerView
from grader.review.desk import Desk
from grader.review.handed_in_files import HandedInFiles
from grader.review.page_templates import templates
from grader.review.part_list import PartOverview
from grader.review.refs import Ref
from grader.review.reviewers import Reviewers

_NOTES_KEPT = 200
_MOST_WORDS = 4000  # of a comment or an item: more than a page


class NotThere(Exception):
    """What an address names is not in the gradebook."""


@dataclass
class Room:
    """What all requests share."""

    grades: Path
    reviewers: Reviewers
    files: HandedInFiles
    names: bool = False
    double: Fraction = Fraction(0)
    _notes: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def leave_note(self, words: str) -> str:
        """Words for the next page, by a name that stands in its address."""
        name = secrets.token_urlsafe(6)
        with self._lock:
            self._notes[name] = words
            while len(self._notes) > _NOTES_KEPT:
                self._notes.popitem(last=False)
        return name

    def note(self, name: str) -> str:
        with self._lock:
            return self._notes.pop(name, "")


class Visit:
    def __init__(self, room: Room, request: Request, gradebook: Gradebook) -> None:
        self.room, self.request, self.gradebook = room, request, gradebook
        self.reviewer: str = request.state.reviewer
        self.root: str = request.scope["root_path"]
        self._aliases: dict[str, dict[Ref, str]] = {}
        self.desk = Desk(gradebook, self.reviewer, double=room.double)

    # What was asked for.

    @cached_property
    def parts(self) -> list[PartOverview]:
        return self.desk.parts()

    @cached_property
    def part(self) -> PartOverview:
        wanted = self.request.path_params["part"]
        for one in self.parts:
            if one.part == wanted:
                return one
        raise NotThere(f"There is no part '{quote(wanted, 40)}' that anybody has to decide.")

    @cached_property
    def ref(self) -> Ref:
        return self.ref_of(self.request.path_params["key"])

    def ref_of(self, key: str) -> Ref:
        if key not in self._students:
            raise NotThere("There is no such answer.")
        return Ref(self._students[key], self.request.path_params["part"])

    @cached_property
    def _students(self) -> dict[str, str]:
        return {key_of(student): student for student in self.gradebook.students()}

    @cached_property
    def form(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, value in self.request.state.form:
            found.setdefault(name, []).append(value)
        return found

    def typed(self, name: str) -> str:
        return self.form.get(name, [""])[-1].replace("\r\n", "\n")[:_MOST_WORDS]

    def typed_points(self, name: str) -> Fraction | None:
        """A number that was typed, or None where nothing was."""
        text = self.typed(name).strip().replace(",", ".")
        if not text:
            return None
        try:
            if len(text) > 12 or "e" in text.lower():
                raise ValueError
            return Fraction(text)
        except (ValueError, ZeroDivisionError):
            raise UsageError(f"'{quote(text, 40)}' is no number of points, such as 2.5") from None

    # What goes back.

    def page(self, template: str, status: int = 200, *, fault: str = "", **values: Any) -> Response:
        shared = {
            "root": self.root,
            "token": self._token,
            "reviewer": self.reviewer,
            "names": self.room.names,
            "parts": self.parts,
            "part": "",
            "requests_open": sum(one.waiting_requests for one in self.parts),
            "said": self.room.note(self.request.query_params.get("said", "")),
            "fault": fault,
        }
        return HTMLResponse(templates().get_template(template).render(shared | values), status)

    def _token(self) -> Markup:
        word = self.room.reviewers.form_token(self.reviewer)
        return Markup('<input type="hidden" name="form_token" value="{}">').format(word)

    def to(self, address: str, said: str = "") -> Response:
        if said:
            address += f"{'&' if '?' in address else '?'}said={self.room.leave_note(said)}"
        return RedirectResponse(address, 303)

    def label(self, ref: Ref) -> str:
        if self.room.names:
            return ref.student
        if ref.part not in self._aliases:
            self._aliases[ref.part] = self.desk.aliases(ref.part)
        return self._aliases[ref.part][ref]

    def pieces(self, view: AnswerView) -> list[ShownPiece]:
        """What was handed in, as pages show it."""
        marks: dict[int, list[Span]] = {}
        for mark in view.marks:
            marks.setdefault(mark.piece, []).append((mark.start, mark.end, mark.what))
        shown = shown_pieces(view.pieces, marks, view.checks, names=self.room.names)
        if any(piece.pictures for piece in shown) and (why := self.room.files.why_not(view.ref.student)):
            shown = [replace(one, pictures=(), notes=(*one.notes, why)) if one.pictures else one for one in shown]
        return shown

    def checks(self, view: AnswerView) -> list[dict[str, Any]]:
        return view.checks if self.room.names else without_names(view.checks, view.pieces)

    def address(self, ref: Ref) -> str:
        return f"{self.address_of_part(ref.part)}/answers/{key_of(ref.student)}"

    def address_of_part(self, part: str) -> str:
        return f"{self.root}/parts/{quote_address(part, safe='')}"


def key_of(student: str) -> str:
    """Stands for a student in addresses: names are hidden, and a reviewer who looks for one can ask for them."""
    return hashlib.sha256(f"review of {student}".encode("utf-8", "replace")).hexdigest()[:16]


def visited(room: Room, handler: Callable[[Visit], Response]) -> Callable[[Request], Response]:
    """An endpoint. What goes wrong is one line on a page, with all that was typed."""

    def endpoint(request: Request) -> Response:
        try:
            with Gradebook(room.grades) as gradebook:
                visit = Visit(room, request, gradebook)
                try:
                    return handler(visit)
                except NotThere as cause:
                    return visit.page("fault.html", 404, fault=str(cause), fields=[])
                except StaffFault as cause:
                    return visit.page("fault.html", 409, fault=_line(cause), fields=_sent(request))
        except StaffFault as cause:  # the gradebook itself: it is locked, or gone
            page = templates().get_template("alone.html")
            values = {"root": request.scope["root_path"], "fault": _line(cause), "fields": _sent(request)}
            return HTMLResponse(page.render(values), 503)

    return endpoint


def _line(cause: StaffFault) -> str:
    return quote(str(cause), 400)


def _sent(request: Request) -> list[tuple[str, Markup]]:
    """What a form held, to be sent once more."""
    return [(name, Markup("{}").format(visible(value))) for name, value in getattr(request.state, "form", [])]
