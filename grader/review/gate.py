"""The gate before every page: which host, which person, which site a request comes from, and what browsers are told.

Nothing behind it is reached without the secret path and a session, and no form without the form token that only our own
pages hold. What is refused gets one line.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterator
from urllib.parse import parse_qsl

from markupsafe import Markup
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.review.reviewers import Reviewers, whose

MAX_BODY = 2**20  # a decision on a group of a thousand has 200 KB
_MAX_FIELDS = 20_000
_MAX_PATH = 1000  # Python reads no number of more than some thousand digits
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
# `same-origin`, not `no-referrer`: other sites learn nothing either way, but without a referrer browsers send forms
# with the origin `null`, and the gate could not tell our own pages from others'.
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_OUR_OWN = ("same-origin", "none")  # Sec-Fetch-Site: our pages, or a person who typed the address
_NO_SESSION = "Open the address that `grader review` printed: it holds your token."
LEADS_ON = Markup(
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}">'
    '<title>Review</title><p><a href="{address}">To the review</a></p>'
)


class Refused(Exception):
    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status, self.line = status, line


class Gate:
    """An ASGI application around another. `hosts`: the names, beside plain addresses, that this machine goes by."""

    def __init__(self, inner: ASGIApp, reviewers: Reviewers, hosts: frozenset[str], cookie: str) -> None:
        self._inner, self._reviewers, self._hosts, self._cookie = inner, reviewers, hosts, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        try:
            inner = await self._admitted(Request(scope, receive), scope)
        except Refused as refused:
            inner = PlainTextResponse(f"{refused.line}\n", refused.status)
        except ClientDisconnect:
            return
        await inner(scope, receive, _with_headers(send))

    async def _admitted(self, request: Request, scope: Scope) -> ASGIApp:
        """What answers the request: the application, or the page that hands out the cookie."""
        headers = request.headers
        if not self._is_ours(headers.get("host", "")):
            raise Refused(421, "This is not the address that `grader review` printed.")
        if request.method not in ("GET", "HEAD", "POST"):
            raise Refused(405, "Only pages and forms.")
        if len(request.url.path) > _MAX_PATH:
            raise Refused(414, "No address here is that long.")
        root = self._reviewers.path
        if not hmac.compare_digest(scope["path"][: len(root) + 1].encode("utf-8", "replace"), f"{root}/".encode()):
            raise Refused(403, _NO_SESSION)
        if request.method != "POST" and "token" in request.query_params:
            return self._welcomed(request.query_params["token"])
        sessions = self._reviewers.by_session
        name = next(filter(None, (whose(value, sessions) for value in _cookies(headers, self._cookie))), None)
        if name is None:
            raise Refused(403, _NO_SESSION)
        if request.method == "POST":
            _refuse_other_sites(request)
            scope.setdefault("state", {})["form"] = await self._form(request, name)
        elif headers.get("sec-fetch-site", "none") not in _OUR_OWN and headers.get("sec-fetch-dest") != "document":
            raise Refused(403, "Another site asked for this.")
        scope.setdefault("state", {})["reviewer"] = name
        scope["root_path"] = root  # routes and templates need not know it
        return self._inner

    def _welcomed(self, token: str) -> Response:
        """A page that leads on, not a redirect: a cookie for our own pages only is not sent along the redirect of
        somebody who came from a mail or a chat."""
        if (name := whose(token, self._reviewers.by_token)) is None:
            raise Refused(403, "This token is not known here; `grader review` prints the one that is.")
        root = self._reviewers.path
        response = HTMLResponse(LEADS_ON.format(address=f"{root}/"))
        session = self._reviewers.session(name)
        # Browsers send cookies to every port of a host, but only below their path, which no other server can guess.
        response.set_cookie(self._cookie, session, httponly=True, samesite="strict", path=root)
        return response

    def _is_ours(self, host: str) -> bool:
        """A site that makes its own name point here (DNS rebinding) comes with that name. Plain addresses cannot."""
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        if name.lower().rstrip(".") in self._hosts:
            return True
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    async def _form(self, request: Request, name: str) -> list[tuple[str, str]]:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise Refused(413, "That is more than any form here holds.")
        try:
            fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
        except ValueError:
            raise Refused(400, "That is no form of this application.") from None
        given = dict(fields).get("form_token", "").encode("utf-8", "replace")
        if not hmac.compare_digest(given, self._reviewers.form_token(name).encode()):
            raise Refused(403, "This form was not made for you: go back, load the page anew, and send it again.")
        return fields


def _refuse_other_sites(request: Request) -> None:
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if (site is not None and site not in _OUR_OWN) or (
        origin is not None and origin != f"{request.url.scheme}://{request.headers['host']}"
    ):
        raise Refused(403, "Another site sent this form, so nothing was done.")


def _cookies(headers: Headers, name: str) -> Iterator[str]:
    """All of that name: servers on other ports can set one, too, which must not hide ours."""
    for pair in ";".join(headers.getlist("cookie")).split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            yield value


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for key, value in _HEADERS.items():
                headers[key] = value
        await send(message)

    return sending
