"""The gate, asked directly: without a token nothing is shown, and no other site's form is carried out."""

from __future__ import annotations

import re
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode

import pytest

from grader.review.application import DONE, SHOWN
from grader.review.gate import MAX_BODY
from grader.review.handed_in_files import HandedInFiles
from grader.review.reviewers import Reviewers
from grader.review.visit import Room
from tests.review.asking import COOKIE, OURS, REVIEWERS, TOKEN, Ask, asker
from tests.review.made_classes import essays

PLACES = {"{part}": "1.a", "{key}": "0" * 16, "{piece:int}": "0", "{page:int}": "1", "{id:int}": "1"}


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return asker(Room(tmp_path, REVIEWERS, HandedInFiles(None)))


def test_without_a_token_nothing_is_shown(ask: Ask) -> None:
    for method, places in (("GET", [*SHOWN, "/static/keys.js", "/favicon.ico"]), ("POST", DONE)):
        for place in places:
            for pattern, value in PLACES.items():
                place = place.replace(pattern, value)
            for headers in (OURS, OURS | {"cookie": "grader-review=wrong"}, OURS | {"cookie": 'grader-review="'}):
                status, _, said = ask(method, place, headers)
                assert (status, said.count("\n")) == (403, 1), place


def test_a_token_buys_a_session_that_a_cookie_holds(ask: Ask) -> None:
    status, headers, page = ask("GET", f"/parts/1.a?token={TOKEN}", OURS)
    assert status == 200
    assert TOKEN not in page + headers["set-cookie"]
    (cookie,) = SimpleCookie(headers["set-cookie"]).values()
    assert (cookie["httponly"], cookie["samesite"].lower()) == (True, "strict")
    assert ask("GET", "/static/keys.js", OURS | {"cookie": f"grader-review={cookie.value}"})[0] == 200
    assert ask("GET", f"/?token={TOKEN[1:]}", OURS | COOKIE)[0] == 403


def test_no_other_port_gets_the_cookie(ask: Ask) -> None:
    """Browsers send cookies to every port of a host: this one only below a path that cannot be guessed."""
    (cookie,) = SimpleCookie(ask("GET", f"/?token={TOKEN}", OURS)[1]["set-cookie"]).values()
    assert re.fullmatch("/[0-9a-f]{32}", cookie["path"])
    for root in ("", "/", f"/{'0' * 32}", cookie["path"][:-1], f"/static{cookie['path']}", f"/{'é' * 32}"):
        for place in ("/", "/static/keys.js", f"/?token={TOKEN}"):
            assert ask("GET", place, OURS | COOKIE, root=root)[0] == 403, root + place
    foreign = f"grader-review=set-by-another-port; {COOKIE['cookie']}; grader-review=; =; grader-review"
    assert ask("GET", "/static/keys.js", OURS | {"cookie": foreign})[0] == 200


def test_a_session_ends_with_the_server(tmp_path: Path) -> None:
    first, second = Reviewers({TOKEN: "Kim"}), Reviewers({TOKEN: "Kim"})
    assert first.session("Kim") != second.session("Kim")
    assert (first.path, first.form_token("Kim")) == (second.path, second.form_token("Kim"))  # an open page goes on
    ask = asker(Room(tmp_path, second, HandedInFiles(None)))
    assert ask("GET", "/static/keys.js", OURS | {"cookie": f"grader-review={first.session('Kim')}"})[0] == 403
    assert ask("GET", "/static/keys.js", OURS | {"cookie": f"grader-review={second.session('Kim')}"})[0] == 200


@pytest.mark.parametrize("host", ["evil.example:8765", "127.0.0.1.evil.example", "", "localhost.evil.example:8765"])
def test_a_name_that_was_made_to_point_here_is_refused(ask: Ask, host: str) -> None:
    assert ask("GET", f"/?token={TOKEN}", OURS | COOKIE | {"host": host})[0] == 421


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1:8765", "[::1]:8765", "192.168.1.7:8765"])
def test_this_machine_goes_by_its_names_and_by_addresses(ask: Ask, host: str) -> None:
    assert ask("GET", "/static/keys.js", OURS | COOKIE | {"host": host})[0] == 200


FOREIGN = {
    "origin": {"origin": "http://evil.example"},
    "null origin": {"origin": "null"},
    "another port": {"origin": "http://127.0.0.1:3000", "sec-fetch-site": "same-site"},
    "another scheme": {"origin": "https://127.0.0.1:8765"},
    "site": {"sec-fetch-site": "cross-site"},
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
def test_another_site_decides_nothing(ask: Ask, headers: dict[str, str]) -> None:
    """Even if it had the cookie and the word of the form."""
    form = urlencode({"form_token": REVIEWERS.form_token("Kim")}).encode()
    for place in ("/undo", "/parts/1.a/answers/0000000000000000/decide"):
        assert ask("POST", place, OURS | COOKIE | headers, form)[0] == 403


def test_a_form_needs_its_word(ask: Ask) -> None:
    for form in (b"", b"form_token=", b"form_token=%F0%9F%98%80", urlencode({"form_token": TOKEN}).encode()):
        status, _, said = ask("POST", "/undo", OURS | COOKIE, form)
        assert (status, said.count("\n")) == (403, 1)
    assert ask("POST", "/undo", OURS | COOKIE, b"x" * (MAX_BODY + 1))[0] == 413
    assert ask("POST", "/undo", OURS | COOKIE, b"\xff=1")[0] == 400
    assert ask("DELETE", "/undo", OURS | COOKIE)[0] == 405


def test_pictures_and_scripts_are_for_our_own_pages(ask: Ask) -> None:
    for site in ("cross-site", "same-site"):
        headers = OURS | COOKIE | {"sec-fetch-site": site, "sec-fetch-dest": "script"}
        assert ask("GET", "/static/keys.js", headers)[0] == 403


def test_every_answer_tells_browsers_to_be_careful(ask: Ask) -> None:
    for headers in (OURS, OURS | COOKIE, {}):
        for place in ("/", "/static/keys.js", "/nowhere"):
            given = ask("GET", place, headers)[1]
            policy = given["content-security-policy"]
            assert policy.startswith("default-src 'none'")
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert given["x-frame-options"] == "DENY"
            assert given["x-content-type-options"] == "nosniff"
            assert given["cache-control"] == "no-store"
            assert given["referrer-policy"] == "same-origin"


def test_a_gradebook_that_is_gone_is_one_line_and_keeps_what_was_typed(ask: Ask) -> None:
    typed = {"comment": "a <b>long</b> thought", "points": "1o"}
    form = urlencode({"form_token": REVIEWERS.form_token("Kim"), **typed}).encode()
    status, _, page = ask("POST", "/parts/1.a/answers/0000000000000000/decide", OURS | COOKIE, form)
    assert status == 503
    assert "there is no gradebook" in page
    assert "a &lt;b&gt;long&lt;/b&gt; thought</textarea>" in page
    assert '<input name="points" value="1o"' in page  # where it can be mended


@pytest.mark.parametrize(("digits", "status"), [(1, 409), (30, 404), (5000, 414)])
def test_a_request_that_is_not_there_is_one_line(ask: Ask, tmp_path: Path, digits: int, status: int) -> None:
    essays(tmp_path, 1)
    form = urlencode({"form_token": REVIEWERS.form_token("Kim"), "reply": "yes"}).encode()
    answered, _, page = ask("POST", f"/requests/{'9' * digits}", OURS | COOKIE, form)
    assert (answered, "o such request" in page or "no request 9" in page or "that long" in page) == (status, True)
