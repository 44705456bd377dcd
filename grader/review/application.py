"""The web application: addresses, and who answers them. Pages work without JavaScript: forms are sent, and lead on."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from grader.review import answer_pages, class_pages, part_pages
from grader.review.gate import Gate
from grader.review.page_templates import STATIC
from grader.review.visit import Room, Visit, visited

_PART = "/parts/{part}"
_ANSWER = f"{_PART}/answers/{{key}}"
SHOWN: dict[str, Callable[[Visit], Response]] = {
    "/": class_pages.overview,
    "/help": class_pages.show_help,
    "/agreement": class_pages.agreement,
    "/requests": class_pages.requests,
    _PART: answer_pages.next_open,
    f"{_PART}/next": answer_pages.next_open,
    f"{_PART}/groups": part_pages.groups,
    f"{_PART}/items": part_pages.items,
    f"{_PART}/accept": part_pages.bulk,
    _ANSWER: answer_pages.show,
    f"{_ANSWER}/pages/{{piece:int}}/{{page:int}}.png": answer_pages.page_of_pdf,
}
DONE: dict[str, Callable[[Visit], Response]] = {
    "/undo": class_pages.undo,
    "/requests/{id:int}": class_pages.answer_request,
    f"{_PART}/groups": part_pages.join,
    f"{_PART}/items": part_pages.change_item,
    f"{_PART}/accept": part_pages.accept_in_bulk,
    f"{_ANSWER}/decide": answer_pages.decide,
    f"{_ANSWER}/take-out": answer_pages.take_out,
    f"{_ANSWER}/lease": answer_pages.keep_lease,
    f"{_ANSWER}/settle": class_pages.settle,
}


def application(room: Room, hosts: frozenset[str], cookie: str) -> ASGIApp:
    shown = [Route(place, visited(room, handler), methods=["GET"]) for place, handler in SHOWN.items()]
    done = [Route(place, visited(room, handler), methods=["POST"]) for place, handler in DONE.items()]
    inner = Starlette(routes=[Route("/favicon.ico", _icon), Route("/static/{name}", _static), *shown, *done])
    return Gate(inner, room.reviewers, hosts, cookie)


def _icon(request: Request) -> Response:
    path, kind = STATIC["icon.svg"]
    return Response(path.read_bytes(), media_type=kind)


def _static(request: Request) -> Response:
    if (found := STATIC.get(request.path_params["name"])) is None:
        return PlainTextResponse("There is no such file.\n", 404)
    path, kind = found
    return Response(path.read_bytes(), media_type=kind)
