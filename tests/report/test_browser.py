"""Hostile pages in a real browser: nothing runs, nothing is fetched, and the words are there to read."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from grader.report.class_page import class_page
from grader.report.html import student_page
from tests.report.made_reports import Data, checked, problem, report
from tests.waiting import PATIENCE_SECONDS

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here; .ci/run installs it"),
]


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """An address on this machine, and what was asked of it."""
    requests: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", requests
    server.shutdown()


def _attack(address: str) -> str:
    return (
        f'</style></title></svg>"><script>document.documentElement.dataset.owned=1;new Image().src="{address}/script"'
        f"</script><img src={address}/image onerror='document.documentElement.dataset.owned=1'>"
        f'<link rel=stylesheet href={address}/style><style>body{{display:none}}</style><iframe src="{address}/frame">'
        f"</iframe><meta http-equiv=refresh content='0;url={address}/refresh'>\x1b[2J\u202efull marks\u202c"
    )


def _after_loading(page: str, folder: Path) -> str:
    """The document as the browser has it once it has done all it would do."""
    assert BROWSER is not None
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--no-first-run"]
    command = [BROWSER, *options, "--virtual-time-budget=2000", "--dump-dom", file.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True).stdout


def _hostile_report(words: str) -> Data:
    figure = {"kind": "lines", "title": words, "x": words, "y": words, "at": [1, 2], "series": {words: [0, 1]}}
    evidence = {"figure": figure, "printed": words, words: words}
    return report(words, problem("1", checked(message=words, evidence=evidence)))


def test_an_attack_left_as_it_is_would_do_harm(asked: tuple[str, list[str]], tmp_path: Path) -> None:
    address, requests = asked
    _after_loading(f"<!doctype html><title>x</title>{_attack(address)}", tmp_path)
    assert {"/script", "/image", "/style", "/frame", "/refresh"} <= set(requests)


@pytest.mark.parametrize("kind", ["student", "class"])
def test_an_attack_on_a_page_does_nothing(kind: str, asked: tuple[str, list[str]], tmp_path: Path) -> None:
    address, requests = asked
    data = _hostile_report(_attack(address))
    page = student_page(data) if kind == "student" else class_page([data], _attack(address), {data["submission"]: "a"})
    seen = _after_loading(page, tmp_path)
    assert "data-owned" not in seen
    assert requests == []
    assert "&lt;script&gt;document.documentElement" in seen
    assert "�[2J�full marks�" in seen


def test_a_page_that_forgot_to_escape_would_still_run_and_fetch_nothing(
    asked: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, requests = asked
    page = student_page(report("MARK", problem("1", checked())))
    attack = re.sub(r"<meta[^>]*>", "", _attack(address))  # a policy cannot stop a page from leading elsewhere
    seen = _after_loading(page.replace("MARK", attack), tmp_path)
    assert "data-owned" not in seen
    assert requests == []
