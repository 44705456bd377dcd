"""A real server for tests, and a client that is no browser."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from tests.batch.classes import ENVIRONMENT
from tests.waiting import PATIENCE_SECONDS

_FORM_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]+)"')
_HIDDEN = re.compile(r'<input type="hidden" name="(version|member)" value="([^"]*)">')


@dataclass
class Server:
    process: subprocess.Popen[str]
    addresses: dict[str, str]  # by reviewer, with the token

    @property
    def address(self) -> str:
        """Of the first reviewer."""
        return next(iter(self.addresses.values()))

    @property
    def base(self) -> str:
        return self.address.partition("/?")[0]


@contextmanager
def served(grades: Path, *options: str | Path, browser: str = "") -> Iterator[Server]:
    """`browser`: the command that opens a page."""
    opens, environment = ("--browser", ENVIRONMENT | {"BROWSER": browser}) if browser else ("--no-browser", ENVIRONMENT)
    command = [sys.executable, "-m", "grader", "review", str(grades), opens, "--port", "0", *map(str, options)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    addresses = {}
    for line in process.stdout:
        if line.startswith("Ctrl-C"):
            break
        name, _, address = line.strip().partition(": ")
        addresses[name] = address
    try:
        assert addresses, process.stderr.read() if process.stderr else ""
        yield Server(process, addresses)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


class Client:
    """One reviewer who speaks HTTP."""

    def __init__(self, address: str) -> None:
        self.host, _, rest = address.removeprefix("http://").partition("/")
        self._root, _, query = f"/{rest}".partition("/?")
        self._connection = http.client.HTTPConnection(self.host, timeout=PATIENCE_SECONDS)
        self._headers: dict[str, str] = {}
        self._connection.request("GET", f"{self._root}/?{query}")
        welcome = self._connection.getresponse()
        self._headers["Cookie"] = (welcome.headers["Set-Cookie"] or "").partition(";")[0]
        welcome.read()

    def get(self, path: str) -> tuple[int, str]:
        status, body, place = self._ask("GET", path, None, {})
        return self.get(place) if status == 303 else (status, body)

    def post(self, path: str, fields: Sequence[tuple[str, str]], **headers: str) -> tuple[int, str, str]:
        """Status, page, and where it leads."""
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._ask(
            "POST", path, urlencode(fields), form | {key.replace("_", "-"): headers[key] for key in headers}
        )

    def _ask(self, method: str, path: str, body: str | None, more: Mapping[str, str]) -> tuple[int, str, str]:
        self._connection.request(method, self._root + path, body, self._headers | dict(more))
        answer = self._connection.getresponse()
        place = answer.headers.get("Location", "").removeprefix(self._root)
        return answer.status, answer.read().decode().replace(f'="{self._root}/', '="/'), place

    def form_token(self) -> str:
        found = _FORM_TOKEN.search(self.get("/help")[1])
        assert found is not None
        return found[1]


def hidden(page: str) -> list[tuple[str, str]]:
    """What a form on a page sends along."""
    return _HIDDEN.findall(page)


def place_of(page: str) -> str:
    """Where the form that decides is sent."""
    found = re.search(r'action="(/parts/[^"]+)/decide"', page)
    assert found is not None
    return found[1]
