"""Starts the server: on this machine only, unless reviewers with tokens are named."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from grader.errors import UsageError
from grader.review.application import application
from grader.review.connections import BACKLOG, LimitedConnection
from grader.review.gate import LEADS_ON
from grader.review.reviewers import write_secret
from grader.review.visit import Room

USUAL_PORT = 8765  # the same at every start where it is free, so that an open tab goes on working
_EVERYWHERE = ("0.0.0.0", "::")  # no address that a browser could open
_LOCAL = ("localhost", "127.0.0.1", "::1")


def is_local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(room: Room, *, host: str, port: int | None, browser: bool) -> None:
    """Until Ctrl-C."""
    with _listening(host, port) as listener:
        number = listener.getsockname()[1]
        known_as = socket.gethostname() if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
        place = f"http://{known_as}:{number}{room.reviewers.path}"
        addresses = {name: f"{place}/?token={token}" for token, name in room.reviewers.by_token.items()}
        for name, address in addresses.items():
            print(f"{name}: {address}", flush=True)
        if not is_local(host):
            warning = f"anybody who can read the network to {host} can read the tokens; `ssh -L` makes a safe way"
            print(f"grader: {warning}", file=sys.stderr)
        print("Ctrl-C ends it; what was decided is in the gradebook.", flush=True)
        app = application(room, _names(host), f"grader-review-{number}")
        quiet = uvicorn.Config(
            app,
            http=LimitedConnection,
            backlog=BACKLOG,
            lifespan="off",
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
        )
        page = room.grades.resolve() / "review.open.html"
        if browser:
            _open_browser(page, next(iter(addresses.values())))
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(quiet).run(sockets=[listener])
        with contextlib.suppress(OSError):
            page.unlink()


def _open_browser(page: Path, address: str) -> None:
    """By a page that leads to the address: every user of the machine can read the browser's command line, so the token
    must not be on it. The page is not in /tmp, which browsers in a container do not see."""
    with contextlib.suppress(OSError):  # the address is printed, too
        write_secret(page, LEADS_ON.format(address=address))
        threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()


@contextlib.contextmanager
def _listening(host: str, port: int | None) -> Iterator[socket.socket]:
    """The port that was asked for; if none was, the usual one, or any that is free."""
    try:
        kind, *_, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageError(f"--host {host}: {error.strerror or error}") from None
    listener = socket.socket(kind, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        for number in (USUAL_PORT, 0) if port is None else (port,):
            try:
                listener.bind((address[0], number))
                break
            except OSError as error:
                if number == 0 or port is not None:
                    raise UsageError(f"port {number} of {host} cannot be had: {error.strerror}") from None
        listener.listen()  # whoever comes before the server is ready waits a moment
        yield listener
    finally:
        listener.close()


def _names(host: str) -> frozenset[str]:
    """Names that a browser may call this machine by; a plain address is always one of its own."""
    own = () if is_local(host) else (host, socket.gethostname(), socket.getfqdn())
    return frozenset(name.lower() for name in (*_LOCAL, *own))
