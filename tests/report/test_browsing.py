"""A class's pages as staff and students use them, in a real browser, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from grader.report.class_page import class_page
from grader.report.class_summary import needed_for_class_page
from grader.report.html import student_page
from tests.batch.classes import RUBRIC, grader, make_class
from tests.report.looks import fits, needs_no_sideways_scroll, no_serious_finding, part_ids_are_whole
from tests.report.made_reports import Data, checked, problem, report
from tests.report.test_browser import BROWSER
from tests.report.test_html import every_kind_of_check
from tests.waiting import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here; .ci/run installs it"),
]
DESK, PHONE = 1400, 390
LOADS_IN_SECONDS = (
    2.0  # of the processor's time in the page's thread: a wall clock would measure the machine's other work
)


@pytest.fixture(scope="module")
def grades(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    make_class(folder / "handed-in", 10)
    done = grader("batch", folder / "handed-in", "--out", folder / "grades", "--rubric", RUBRIC)
    assert done.returncode == 0, done.stderr
    set_by_hand = ("s001", "1.a", "1", "--by", "Tess <b>", "--why", "right but for β")
    done = grader("override", *set_by_hand, "--out", folder / "grades")
    assert done.returncode == 0, done.stderr
    assert grader("report", folder / "grades").returncode == 0
    return folder / "grades"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser: Browser, width: int = DESK, **options: object) -> Page:
    context: BrowserContext = browser.new_context(viewport={"width": width, "height": 900}, **options)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE_SECONDS)
    return page


def test_from_the_class_to_a_student_to_the_next(browser: Browser, grades: Path) -> None:
    page = opened(browser)
    page.goto((grades / "index.html").as_uri())
    students = page.locator(".students")
    students.get_by_role("button", name="Points").click()  # the most first: two have all, and names decide
    expect(students.locator("th[aria-sort=descending]")).to_have_text("Points")
    names = students.locator("tbody a").all_text_contents()
    assert names[:3] == ["s000", "s004", "s008"]
    students.get_by_role("link", name="s004").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("s004")
    page.get_by_role("link", name="next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("s008")  # in the order that was chosen
    page.get_by_role("link", name="previous").click()
    page.get_by_role("link", name="previous").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("s000")
    page.get_by_role("link", name="previous").click()
    expect(page.locator("#count")).to_have_text("s000 is the first of the students shown")


def test_a_mistake_leads_to_the_part_of_whoever_made_it(browser: Browser, grades: Path) -> None:
    page = opened(browser)
    page.goto((grades / "index.html").as_uri())
    mistakes = page.locator("#mistakes").locator("..")
    row = mistakes.get_by_role("row").filter(has_text="β is left out").first
    row.locator("summary").click()
    row.get_by_role("button", name="Show them below").click()
    shown = page.locator(".students tbody tr:visible")
    expect(shown).to_have_count(2)
    expect(page.locator("#only")).to_contain_text("Only those with 1.a: it looks as if β is left out")
    page.get_by_role("button", name="Show everybody").click()
    expect(shown).to_have_count(10)
    row.get_by_role("link").first.click()
    expect(page.locator("#part-1\\.a")).to_be_in_viewport()
    expect(page.locator("pre.code").first).to_contain_text("scores = (K.T @ Q)")


def test_students_are_filtered_and_searched_with_mouse_and_keyboard(browser: Browser, grades: Path) -> None:
    page = opened(browser)
    page.goto((grades / "index.html").as_uri())
    rows = page.locator(".students tbody tr:visible")
    expect(rows).to_have_count(10)
    page.get_by_role("radio", name="needs a person").check()
    expect(rows).to_have_count(1)  # the archive that is none
    expect(rows.get_by_role("link")).to_have_text("s009")
    page.get_by_role("radio", name="needs a person").press("ArrowUp")
    expect(rows).to_have_count(10)
    page.get_by_role("radio", name="decided by a person").check()
    expect(rows.get_by_role("link")).to_have_text("s001")
    page.get_by_role("radio", name="everybody").check()
    page.get_by_role("searchbox").fill("S00 final")
    expect(rows).to_have_count(9)
    page.reload()
    expect(rows).to_have_count(9)  # as it was left
    without = opened(browser, java_script_enabled=False)
    without.goto((grades / "index.html").as_uri())
    rows = without.locator(".students tbody tr:visible")
    expect(rows).to_have_count(10)
    without.get_by_role("radio", name="decided by a person").check()
    expect(rows.get_by_role("link")).to_have_text("s001")
    expect(without.get_by_role("searchbox")).to_be_hidden()


LONDON = {"answer": "London", "right": 15, "total": 300}
FIGURES = [
    {"kind": "heatmap", "title": "The output", "student": [[1, -0.25, 3]] * 4, "reference": [[1, 2, 0.5]] * 4},
    {"kind": "lines", "x": "β", "y": "weight", "at": [1, 32], "series": {"a, b": [0.1, 0.5], "each other": [0.1, 0]}},
    {"kind": "samples", "x": "share of v_a in c", "samples": {"one head": [0.1, 0.9], "two heads": [0.5, 0.6]}},
    {"kind": "accuracy", "right": 9, "total": 300, "interval": [0.01, 0.06], "baseline": LONDON},
]
WORK = [
    {"kind": "answer", "file": "answers.md", "line": 3, "text": "so $q = \\beta(k_a + k_b)$ holds, as `softmax` says"},
    {
        "kind": "code",
        "file": "src/attention.py",
        "name": "f",
        "line": 7,
        "text": "def f(x):\n    return x" + " + x" * 60,
    },
]


def _made(folder: Path) -> dict[str, Path]:
    """Pages with everything on them, plain and in hostile hands; of each part two checks, for axe takes its time."""
    data, hostile = every_kind_of_check()
    for one in (data, hostile):
        for number, part in enumerate(one["problems"]):
            part["checks"] = part["checks"][2 * number : 2 * number + 2]
    for part in data["problems"]:
        part["judged"] = {**part["judged"], "pieces": WORK}
        for check in part["checks"]:
            check["evidence"] = {
                "figure": FIGURES,
                "read_as": "q = k_a",
                "read_as_latex": "q = k_{a}",
                "said": "a word",
            }
    reports = [data, *(data | {"submission": f"student number {number}"} for number in range(9))]
    pages = {
        "student": student_page(data, class_page="./index.html"),
        "hostile": student_page(hostile),
        "class": class_page([needed_for_class_page(one) for one in reports], "A class", {"alice": "alice.html"}),
        "hostile class": class_page([needed_for_class_page(hostile)] * 3, "A class", {}),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in pages}


def test_every_page_fits_and_is_accessible(browser: Browser, grades: Path, tmp_path: Path) -> None:
    """On a desk in light colours, on a phone in dark ones."""
    pages = _made(tmp_path) | {"real-class": grades / "index.html", "real-student": grades / "s001.html"}
    for name, place in pages.items():
        page = opened(browser, PHONE, color_scheme="dark")
        page.goto(place.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        _looks_right(page, name)
        page.set_viewport_size({"width": DESK, "height": 900})
        page.emulate_media(color_scheme="light")
        _looks_right(page, name)
        page.context.close()


def _looks_right(page: Page, name: str) -> None:
    if "hostile" in name:
        needs_no_sideways_scroll(page, name)
    else:
        fits(page, name)
        no_serious_finding(page)


def test_ids_of_parts_are_whole_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    ids = [
        f"{number}.{letter}.{roman}" for number in (1, 12) for letter in "am" for roman in ("i", "ii", "iii", "viii")
    ]
    judged = {"sha256": "0" * 64, "kind": "answer", "pieces": WORK[:1]}
    statuses = ("failed", "review", "ungraded", "passed")
    parts = [
        problem(id_, checked(status=status), status=status) | {"judged": judged}
        for id_, status in zip(ids, statuses * 4, strict=True)
    ]
    reports = [report(f"student {number}", *parts) for number in range(9)]
    pages = {
        "a-student": student_page(reports[0], class_page="./index.html"),
        "a-self-check": student_page(reports[0], said="0 of 16 points"),
        "a-class": class_page([needed_for_class_page(one) for one in reports], "A class", {}),
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        for width in (PHONE, 320, DESK):
            page = opened(browser, width)
            page.goto((tmp_path / f"{name}.html").as_uri())
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            needs_no_sideways_scroll(page, name)
            part_ids_are_whole(page, f"{name} {width}", at_least=2 * len(ids))
            page.context.close()


def test_passed_parts_are_folded_until_they_are_asked_for(browser: Browser, tmp_path: Path) -> None:
    right = problem("1", checked(status="passed", message="well done"), status="passed", points=1)
    (tmp_path / "a.html").write_text(student_page(report("a", right, problem("2", checked()))), encoding="utf-8")
    page = opened(browser, java_script_enabled=False)
    page.goto((tmp_path / "a.html").as_uri())
    expect(page.get_by_text("off by 0.2")).to_be_visible()
    expect(page.get_by_text("well done")).to_be_hidden()
    page.get_by_role("navigation", name="Parts").get_by_role("link", name="Title of 1").click()
    expect(page.get_by_text("well done")).to_be_visible()


def test_a_student_prints_on_few_sheets(browser: Browser, tmp_path: Path) -> None:
    """Twenty parts, half of them right, with an answer beside each."""
    piece = {
        "kind": "answer",
        "file": "answers.md",
        "line": 1,
        "text": "The weights sum to one, $q = \\beta k_a$. " * 3,
    }
    judged = {"judged": {"sha256": "0" * 64, "kind": "answer", "pieces": [piece]}}
    parts = [
        problem(f"{n}", *[checked(status=status)] * 3, status=status) | judged
        for n, status in enumerate(("passed", "failed") * 10)
    ]
    (tmp_path / "a.html").write_text(student_page(report("a", *parts)), encoding="utf-8")
    page = opened(browser)
    page.goto((tmp_path / "a.html").as_uri())
    sheets = pypdfium2.PdfDocument(page.pdf(format="A4"))
    assert len(sheets) <= 4
    first = sheets[0].get_textpage().get_text_bounded()
    assert "Title of 1" in first
    assert "Parts ↑" not in first


def test_a_class_of_ten_thousand_loads_in_two_seconds(browser: Browser, tmp_path: Path) -> None:
    parts = [f"{n}.{letter}" for n in range(1, 6) for letter in "abcd"]

    def student(number: int) -> Data:
        wrong = number % len(parts)
        problems = [
            problem(part, checked(message=f"wrong in {part}"), status="failed")
            if place == wrong
            else problem(part, checked(status="passed"), status="passed", points=1)
            for place, part in enumerate(parts)
        ]
        return {**_ONE, "submission": f"student{number:05}", "problems": problems, "points": 19, "max_points": 20}

    everybody = [needed_for_class_page(student(number)) for number in range(10_000)]
    pages = {one["submission"]: f"{one['submission']}.html" for one in everybody}
    (tmp_path / "index.html").write_text(class_page(everybody, "A large class", pages), encoding="utf-8")
    page = opened(browser)
    measuring = page.context.new_cdp_session(page)
    measuring.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto((tmp_path / "index.html").as_uri())
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    taken = {one["name"]: one["value"] for one in measuring.send("Performance.getMetrics")["metrics"]}
    assert 0 < taken["TaskDuration"] < LOADS_IN_SECONDS
    shown = "document.querySelectorAll('.students tbody tr:not([hidden])').length"
    assert page.evaluate(shown) == 300
    page.locator("#search").fill("student0777")
    assert page.evaluate(shown) == 10


_ONE = report("one")
