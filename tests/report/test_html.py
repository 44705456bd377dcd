"""Pages: harmless whatever students write, readable by everyone, exact, small, and made from JSON alone."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.model import Status
from grader.report import html
from grader.report.class_page import class_page
from grader.report.drawing import DEEPEST
from grader.report.html import student_page, templates
from tests.conftest import REPOSITORY
from tests.in_process import command as grader
from tests.report.made_reports import Data, Page, checked, problem, report

HOSTILE = (
    '</title></style></svg></td>"><script>document.title="owned"</script><img src=x onerror=alert(1)>'
    "' onmouseover='alert(1) javascript:alert(1) {{ 7 * 7 }} {% raw %} "
    "\x1b[2J \u202efull marks\u202c &lt; =HYPERLINK(1)"
)
LONDON = {"answer": HOSTILE, "right": 1, "total": 9}
FIGURES = [
    {"kind": "heatmap", "title": HOSTILE, "rows": HOSTILE, "student": [[1, None], [-2, 3]], "reference": [[1, 2]]},
    {"kind": "lines", "x": HOSTILE, "y": HOSTILE, "at": [1, 2], "series": {HOSTILE: [0.1, 0.9]}},
    {"kind": "samples", "x": HOSTILE, "samples": {HOSTILE: [0.1, 0.2]}},
    {"kind": "accuracy", "right": 1, "total": 9, "interval": [0, 0.4], "baseline": LONDON},
]
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "nav", "aside", "section", "div"),
    *("a", "span", "strong", "p", "h1", "h2", "h3", "h4", "ul", "ol", "li", "dl", "dt", "dd", "details", "summary"),
    *("article", "pre", "code", "math", "mrow", "mi", "mn", "mo", "msub", "msup", "mtext"),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
    *("fieldset", "legend", "label", "input"),
    *("figure", "figcaption", "svg", "rect", "circle", "path", "text"),
}
WORK = [
    {
        "kind": "answer",
        "file": HOSTILE,
        "line": 3,
        "text": f"so ${HOSTILE}$ and $\\beta k_a$ or `{HOSTILE}`\n{HOSTILE}",
    },
    {"kind": "code", "file": "a.py", "name": HOSTILE, "line": 7, "text": f"def f():\n    return '{HOSTILE}'"},
    {"kind": "file", "file": HOSTILE, "sha256": "0" * 64, "lines": 300},
]
JUDGED = {"sha256": "0" * 64, "kind": "code", "pieces": WORK}
ACTING = ("style", "src", "srcset", "action", "xlink:href")
TEMPLATES = REPOSITORY / "grader" / "report" / "templates"
START = 'document.documentElement.classList.add("scripted", "loading");'
STYLE, SCRIPT = (TEMPLATES / "style.css").read_text(), (TEMPLATES / "class.js").read_text()


def _all_hostile(data: Any) -> Any:
    """The same with every word of it, names of keys in evidence too, in a student's hand."""
    if isinstance(data, dict):
        kept = ("status", "visibility", "kind", "rubric_sha256")
        return {key: item if key in kept else _all_hostile(item) for key, item in data.items()}
    if isinstance(data, list):
        return [_all_hostile(item) for item in data]
    return HOSTILE if isinstance(data, str) else data


def every_kind_of_check() -> tuple[Data, Data]:
    """A report with everything in it, and the same in a student's hand."""
    data = _every_kind_of_check()
    return data, _all_hostile(data)


def _every_kind_of_check() -> Data:
    read = {"read_as": "q = k_a", "read_as_latex": "q = k_{a}"}
    evidence = {"figure": FIGURES, **read, HOSTILE: HOSTILE, "deep": {HOSTILE: [{HOSTILE: 1}]}}
    checks = [
        checked(f"check_{status}", status, evidence=evidence, visibility=seen)
        for status, seen in product(Status, ("public", "hidden"))
    ]
    parts = (problem(f"1.{status}", *checks, status=status, max_points=3) | {"judged": JUDGED} for status in Status)
    whole = report("alice", *parts)
    return whole | {"notes": ["a note"], "isolation": {"layers": [], "missing": ["landlock"]}}


PAGES = ("student", "hostile", "class", "hostile class")


@cache
def _pages() -> dict[str, str]:
    """Made when the first test asks: that takes a second, which collecting should not."""
    data, hostile = every_kind_of_check()
    return {
        "student": student_page(data),
        "hostile": student_page(hostile),
        "class": class_page([data, report("bob", problem("1.a"))], "A class", {"alice": "students/alice.html"}),
        "hostile class": class_page([hostile] * 3, HOSTILE, {HOSTILE: HOSTILE}),
    }


@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_nothing_that_acts(name: str) -> None:
    page = Page(_pages()[name])
    acting = {"script", "button"} if "class" in name else set()
    assert {tag for tag, _ in page.elements} <= ELEMENTS | acting
    assert page.every("script") == [{}] * len(acting)
    assert all(one["type"] in ("radio", "search") for one in page.every("input"))
    attributes = {attribute for _, some in page.elements for attribute in some}
    assert not {one for one in attributes if one.startswith("on") or one in ACTING}
    assert all(address.startswith(("#", "./")) for address in page.values("href"))
    assert "\x1b" not in _pages()[name]
    assert "\u202e" not in _pages()[name]


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_forbids_everything_but_its_own_style(name: str) -> None:
    policies = [one["content"] for one in Page(_pages()[name]).every("meta") if "http-equiv" in one]
    style = re.search(r"<style>(.*?)</style>", _pages()[name], re.DOTALL)
    assert style
    scripts = re.findall(r"<script>(.*?)</script>\n", _pages()[name], re.DOTALL) if "class" in name else []
    assert scripts == ([START, SCRIPT] if "class" in name else [])
    hashes = " ".join(f"'sha256-{_digest(one)}'" for one in scripts)
    script = f"; script-src {hashes}" if scripts else ""
    allowed = f"style-src 'sha256-{_digest(style[1])}'{script}"
    assert policies == [f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"]
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_students_words_are_shown_as_they_were_written() -> None:
    shown = Page(_pages()["hostile"]).text
    assert '"><script>document.title="owned"</script>' in shown
    assert "{{ 7 * 7 }}" in shown
    assert "�[2J �full marks� &lt;" in shown


@pytest.mark.slow
@settings(deadline=None)  # a busy machine is no fault of a page
@given(st.text(max_size=60))
def test_any_words_leave_a_well_formed_page(words: str) -> None:
    page = Page(student_page(report("a", problem("1", checked(message=words, evidence={"said": words})))))
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    assert all(one["type"] == "radio" for one in page.every("input"))


@pytest.mark.parametrize("name", ["student", "class"])
def test_a_page_can_be_used_without_seeing_it(name: str) -> None:
    page = Page(_pages()[name])
    tags = [tag for tag, _ in page.elements]
    assert [tags.count(tag) for tag in ("h1", "main", "header", "footer", "nav")] == [1, 1, 1, 1, 1]
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h\d", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(one.get("aria-label") and one.get("role") == "img" for one in page.every("svg"))
    assert all(one.get("scope") for one in page.every("th"))
    identities = list(page.values("id"))
    assert len(identities) == len(set(identities))
    targets = {address[1:] for address in page.values("href") if address.startswith("#")}
    assert targets | set(page.values("aria-labelledby")) <= set(identities)
    assert page.every("html") == [{"lang": "en"}]


def test_every_status_has_a_word_and_a_sign() -> None:
    shown = Page(_pages()["student"]).text
    signs = re.findall(r"(\S) (passed|partial|failed|crashed|missing|skipped|review|ungraded)\b", shown)
    assert len({sign for sign, _ in signs if not sign.isalnum()}) == len(Status)


def _theme(text: str) -> dict[str, tuple[int, ...]]:
    return {
        name: tuple(int(colour[place : place + 2], 16) for place in (0, 2, 4))
        for name, colour in re.findall(r"--(\w+): #([0-9a-f]{6});", text)
    }


LIGHT, DARK = (_theme(block) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL))


def _contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    def luminance(colour: tuple[float, ...]) -> float:
        channels = [part / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_stands_out_in_both_themes(theme: dict[str, tuple[int, ...]]) -> None:
    assert theme.keys() == LIGHT.keys()
    for ground in ("page", "surface"):
        for words in ("text", "muted", "link", "good", "warn", "bad", "person", "ours"):
            assert _contrast(theme[words], theme[ground]) >= 4.5, f"{words} on {ground}"
        for drawn in ("one", "two", "three"):
            assert _contrast(theme[drawn], theme[ground]) >= 3, f"{drawn} on {ground}"
        for drawn in ("one", "two"):
            cell = tuple(DEEPEST * a + (1 - DEEPEST) * b for a, b in zip(theme[drawn], theme[ground], strict=True))
            assert _contrast(theme["text"], cell) >= 4.5, f"a number on the deepest cell of {drawn} on {ground}"


def test_a_page_of_sixty_points_with_a_figure_for_every_part_is_small() -> None:
    matrix = [[-0.1234] * 12] * 12
    figure = {"kind": "heatmap", "title": "The output", "student": matrix, "reference": matrix}
    first = checked(evidence={"figure": figure}, message="off by 0.21 at (0, 3): got 1.389, expected 1.604 " * 4)
    data = report("a", *(problem(f"{n}.a", first, *[checked()] * 5, max_points=6) for n in range(10)))
    assert len(student_page(data).encode()) < 300_000


def test_what_was_handed_in_stands_beside_the_feedback() -> None:
    answer = {"kind": "answer", "file": "answers.md", "line": 3, "text": "so $q = \\beta k_a$ <b>holds</b>"}
    code = {"kind": "code", "file": "src/a.py", "name": "f", "line": 7, "text": "def f():\n    return 1 < 2"}
    wrong = checked(
        message="it raises at a.py:8", evidence={"read_as": "q = β k_a", "read_as_latex": "q = \\beta k_{a}"}
    )
    part = problem("1", wrong) | {"judged": {"sha256": "0" * 64, "kind": "code", "pieces": [answer, code]}}
    page = Page(student_page(report("a", part)))
    assert "Read as q=βka" in page.text
    assert "answers.md, line 3 so q=βka <b>holds</b>As it was typed" in page.text
    assert "so $q = \\beta k_a$ <b>holds</b>" in page.text
    assert "f in src/a.py, line 7 7def f(): 8 return 1 < 2" in page.text
    assert [one["class"] for one in page.every("span") if "row" in (one.get("class") or "")] == ["row", "row named"]


def test_a_page_stays_small_whatever_was_handed_in() -> None:
    pieces = [{"kind": "code", "file": "a.py", "line": 1, "text": "<\n" * 10_000, "left_out": 5}] * 12
    parts = [problem(f"1.{n}") | {"judged": {"sha256": "0" * 64, "kind": "code", "pieces": pieces}} for n in range(9)]
    page = student_page(report("a", *parts))
    assert len(page) < 400_000
    assert "19206 more characters are left out here" in page


def test_parts_are_listed_and_those_with_nothing_to_mend_are_folded() -> None:
    parts = [problem("1", checked(status="passed"), status="passed"), problem("2", checked())]
    parts.append(problem("3", checked(status="missing"), status="missing"))
    page = Page(student_page(report("a", *parts)))
    assert ["open" in one for one in page.every("details")] == [False, True, False]
    assert "✓passed 1 Title of 1 0 / 1 ✗failed 2 Title of 2 0 / 1" in page.text


def test_a_page_leads_to_the_class_without_naming_anybody_else() -> None:
    page = Page(student_page(report("zoë & co", problem("1", checked())), class_page="./index.html"))
    assert [address for address in page.values("href") if address.startswith("./")] == [
        "./index.html",
        "./index.html#before=zo%C3%AB%20%26%20co",
        "./index.html#after=zo%C3%AB%20%26%20co",
    ]
    assert "Staff" not in student_page(report("a"))


def test_a_page_says_what_is_final_what_is_lost_and_what_is_not_yet_known() -> None:
    parts = [
        problem("1.a", checked(status="passed", points=2, max_points=2), status="passed", points=2, max_points=2),
        problem("1.b", checked(status="review", points=0.5), status="review", points=0.5, max_points=3),
        problem("1.c", checked(), max_points=10),
        problem("1.d", checked(status="missing"), status="missing", max_points=0) | {"bonus": True},
    ]
    shown = Page(student_page(report("alice", *parts))).text
    assert "2.5 of 15 points so far. 1 of 3 parts right, 1 waits for a person." in shown
    assert "Most points lost: 1.c (10), 1.b (2.5)." in shown
    assert "A person has still to look at 1.b. Points may go up or down." in shown
    assert "Optional, and not handed in: 1.d Title of 1.d." in shown
    settled = Page(student_page(report("alice", parts[0]))).text
    assert "Not final" not in settled
    assert "so far" not in settled


@pytest.mark.parametrize(("points", "closed"), [(0, None), (3, "30 100"), (10, "100 100")])
def test_the_ring_closes_as_far_as_the_points_go(points: float, closed: str | None) -> None:
    page = Page(student_page(report("a", problem("1", checked(), points=points, max_points=10))))
    assert [circle.get("stroke-dasharray") for circle in page.every("circle")] == ([None, closed] if closed else [None])


@pytest.mark.parametrize("status", ["skipped", "missing"])
def test_what_was_left_out_for_one_reason_is_said_once(status: str) -> None:
    why = "not tried, because returns_an_array did not pass"
    skipped = [checked(name, status, message=why) for name in ("sums_to_one", "is_finite")]
    shown = Page(student_page(report("a", problem("1", checked(), *skipped)))).text
    assert shown.count(why) == 1
    assert "sums to one, is finite 0 of 2" in shown


def test_what_a_person_decided_is_said_and_is_no_longer_open() -> None:
    decided = {"was": 0, "by": "Tess", "comment": "<b>right</b> but for β", "at": "2026-01-01T00:00:00+00:00"}
    decided |= {"kind": "override", "found": "review", "items": []}
    part = problem("1", checked(status="review"), status="passed", points=2, max_points=2) | {"decision": decided}
    data = report("a", part)
    data["provisional"] = False
    shown = Page(student_page(data)).text
    assert "Decided by Tess: 2 of 2 points, from 0: <b>right</b> but for β" in shown
    assert "review" not in shown
    assert "Not final yet" not in shown
    listed = Page(class_page([data], "A class")).text
    assert "decided by a person (1)" in listed
    assert "needs a person (0)" in listed


def test_what_was_decided_on_another_answer_is_open_and_says_so() -> None:
    before = {"points": 2, "by": "Tess", "at": "2026-01-01T00:00:00+00:00", "comment": "good", "on": "another answer"}
    data = report("a", problem("1", checked(), status="review", max_points=3) | {"decided_before": before})
    assert "Decided before on another answer: 2 of 3 by Tess" in Page(student_page(data)).text
    assert "1 of a: decided before on another answer: 2 of 3 by Tess" in Page(class_page([data], "A class")).text


def test_older_and_newer_reports_are_drawn_too() -> None:
    data = report("a", problem("1", checked()))
    new = data | {"overrides": [{"by": "ta"}], "problems": [data["problems"][0] | {"mood": 1}]}
    assert "off by 0.2" in student_page(new)
    assert "A class" in class_page([new], "A class")
    del data["title"], data["problems"][0]["checks"][0]["asks"]
    assert "off by 0.2" in student_page(data)


def test_an_empty_class_and_an_empty_report_have_pages() -> None:
    assert "0 submissions" in Page(class_page([], "Nobody")).text
    assert "0 of 0 points" in Page(student_page(report("a"))).text


@pytest.mark.slow
def test_run_writes_a_page_with_a_figure_for_public_checks_only(tmp_path: Path) -> None:
    page, data = tmp_path / "dora.html", tmp_path / "dora.json"
    done = grader("run", "submissions/dora", "--part", "2.1", "--html", page, "--json", data)
    assert done.returncode == 0
    figures = {
        check["id"]: check["visibility"]
        for check in json.loads(data.read_text())["problems"][0]["checks"]
        if "figure" in check["evidence"]
    }
    assert figures == {"matches_reference": "public"}
    assert len(Page(page.read_text()).every("svg")) == 1 + 3  # the ring; student, reference, difference
    done = grader("run", "submissions/dora", "--part", "2.1", "--html", "no/such/folder/a.html")
    assert done.returncode == 2
    assert done.stderr == "grader: no/such/folder/a.html: the page cannot be written: No such file or directory\n"


def test_templates_are_compiled_once_for_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn_anew() -> str:
        templates.cache_clear()  # as in another process
        jinja2.clear_caches()
        return student_page(report("ada"))

    monkeypatch.setattr(html.FileSystemBytecodeCache, "__init__", lambda cache, _: vars(cache).update(kept))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kept = {"directory": str(tmp_path / "none" / "below"), "pattern": "%s"}
    (tmp_path / "none").write_text("a file, so that nothing can lie below")
    page = drawn_anew()
    kept["directory"] = str(tmp_path / "kept")
    assert drawn_anew() == page
    files = [*(tmp_path / "kept").iterdir()]
    assert files
    for file in files:  # a machine that went down may leave part of one
        whole = file.read_bytes()
        for damaged in (whole[:20], whole[:40], whole[:-9], whole[:20] + bytes(len(whole))):
            file.write_bytes(damaged)
            assert drawn_anew() == page
            assert file.read_bytes() == whole
    generate = jinja2.Environment._generate
    monkeypatch.setattr(jinja2.Environment, "_generate", lambda *_: pytest.fail("it was compiled before"))
    assert drawn_anew() == page
    monkeypatch.setattr(jinja2.Environment, "_generate", generate)
    monkeypatch.setitem(html._OPTIONS, "trim_blocks", False)
    assert drawn_anew() != page, "what was compiled with other options must not be taken"
    monkeypatch.undo()
    templates.cache_clear()


def test_templates_of_another_jinja_are_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    key = html._Compiled().get_cache_key("student.html")
    monkeypatch.setattr(jinja2, "__version__", "3.99")
    assert html._Compiled().get_cache_key("student.html") != key
