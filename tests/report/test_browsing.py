"""A class's pages as staff and students use them, in a real browser, on a desk and on a phone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.batch.classes import RUBRIC, grader, make_class
from tests.report.test_browser import BROWSER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here; .ci/run installs it"),
]
WIDTHS = {"desk": 1200, "phone": 390}
# Where a person, or CI, wants to keep what was seen.
KEPT = os.environ.get("SCREENSHOTS")


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


@pytest.fixture(params=WIDTHS)
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTHS[request.param], "height": 900})
        page.set_default_timeout(20_000)
        yield page
        browser.close()


def _seen(page: Page, name: str) -> None:
    """Nothing sticks out of the screen; what does is cut off on a phone."""
    width = page.viewport_size["width"] if page.viewport_size else 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if KEPT:
        page.screenshot(path=Path(KEPT) / f"{name}-{width}.png", full_page=True)


def test_from_the_class_to_a_student_to_a_figure(page: Page, grades: Path) -> None:
    page.goto((grades / "index.html").as_uri())
    expect(page.get_by_role("heading", name="Most common mistakes")).to_be_visible()
    _seen(page, "class")
    page.locator("#students").locator("..").get_by_role("link", name="s001").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("s001")
    expect(page.get_by_text("Decided by Tess <b>: 1 of 4 points, from 0")).to_be_visible()
    figure = page.locator("figure svg").first
    expect(figure).to_be_visible()
    assert figure.get_attribute("aria-label") or figure.locator("title").count()
    _seen(page, "student")


def test_students_are_filtered_with_mouse_and_keyboard(page: Page, grades: Path) -> None:
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
    _seen(page, "filtered")
