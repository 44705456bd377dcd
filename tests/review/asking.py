"""The application of review asked in the tests' own process: no server, no browser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlencode

from starlette.types import Message

from grader.review.application import application
from grader.review.reviewers import Reviewers
from grader.review.visit import Room

TOKEN = "t" * 32
OURS = {"host": "127.0.0.1:8765", "origin": "http://127.0.0.1:8765", "sec-fetch-site": "same-origin"}
REVIEWERS = Reviewers({TOKEN: "Kim"})
COOKIE = {"cookie": f"grader-review={REVIEWERS.session('Kim')}"}

Answered = tuple[int, dict[str, str], str]  # status, headers, page
Ask = Callable[..., Answered]


def asker(room: Room) -> Ask:
    """ask(method, path, headers, body): what the application answers. Addresses stand without the secret path."""
    app = application(room, frozenset({"localhost"}), "grader-review")

    def asked(method: str, path: str, headers: dict[str, str], body: bytes = b"", root: str | None = None) -> Answered:
        path, _, query = path.partition("?")
        path = (REVIEWERS.path if root is None else root) + path
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "scheme": "http",
            "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        asyncio.run(app(scope, receive, send))
        given = {key.decode(): value.decode() for key, value in sent[0]["headers"]}
        page = b"".join(one.get("body", b"") for one in sent[1:]).decode(errors="replace")
        if "location" in given:
            given["location"] = given["location"].removeprefix(REVIEWERS.path)
        return sent[0]["status"], given, page.replace(f'="{REVIEWERS.path}/', '="/')

    return asked


class Kim:
    """A reviewer who is past the door: pages are followed to where they lead."""

    def __init__(self, room: Room) -> None:
        self._ask = asker(room)

    def sees(self, path: str) -> str:
        status, page = self.gets(path)
        assert status == 200, page
        return page

    def gets(self, path: str) -> tuple[int, str]:
        status, headers, page = self._ask("GET", path, OURS | COOKIE)
        return self.gets(headers["location"]) if status == 303 else (status, page)

    def sends(self, path: str, *fields: tuple[str, str]) -> tuple[int, str]:
        form = urlencode([("form_token", REVIEWERS.form_token("Kim")), *fields]).encode()
        status, headers, page = self._ask("POST", path, OURS | COOKIE, form)
        return self.gets(headers["location"]) if status == 303 else (status, page)
