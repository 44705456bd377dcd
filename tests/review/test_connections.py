"""Connections that send no request, opened by somebody without a token, do not stop the review."""

from __future__ import annotations

import contextlib
import http.client
import resource
import select
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.review.made_classes import essays
from tests.review.serving import Client, Server, served
from tests.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.slow
FILES = 256  # that the server may have open: fewer than usual, so that few connections use them up
HALF_OPEN = 400
BEGINNINGS = {
    "nothing": b"",
    "half a header": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    "a refused form without an end": b"POST /undo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nx",
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    essays(tmp_path, 1)
    with served(tmp_path, "--by", "Kim") as server:
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        yield server


@pytest.mark.parametrize("words", BEGINNINGS.values(), ids=BEGINNINGS)
def test_half_open_connections_do_not_stop_the_review(server: Server, words: bytes) -> None:
    reviewer = Client(server.address)
    with contextlib.ExitStack() as stack:
        for _ in range(HALF_OPEN):
            _open(server, words, stack)
        status, page = Client(server.address).get("/parts/1.a")
        assert (status, "decide" in page) == (200, True)
        with contextlib.suppress(ConnectionError, http.client.HTTPException):  # it may be closed, as browsers know
            reviewer.get("/")
        assert Client(server.address).get("/")[0] == 200


def test_a_request_that_never_ends_is_closed(server: Server) -> None:
    """However often a byte comes."""
    with contextlib.ExitStack() as stack:
        waiting = [_open(server, words, stack) for words in BEGINNINGS.values()]

        def all_are_closed() -> bool:
            for one in select.select(waiting, [], [], 0.2)[0]:
                with contextlib.suppress(ConnectionError):
                    if one.recv(1000):
                        continue
                waiting.remove(one)
            for one in waiting[1:]:
                with contextlib.suppress(ConnectionError):
                    one.send(b"x")
            return not waiting

        until(all_are_closed)
    assert Client(server.address).get("/")[0] == 200


def _open(server: Server, words: bytes, stack: contextlib.ExitStack) -> socket.socket:
    host, _, port = server.address.removeprefix("http://").partition("/")[0].partition(":")
    connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS))
    with contextlib.suppress(ConnectionError):  # closed at once: just as well
        connection.sendall(words)
    return connection
