"""Takes the pictures of review in docs/images: `python -m benchmarks.review_pictures`. It needs Chromium."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from grader.batch.gradebook import Gradebook
from grader.review.visit import key_of
from tests.conftest import REPOSITORY
from tests.review.sample_class import graded_samples, make_class
from tests.review.serving import served

IMAGES = REPOSITORY / "docs" / "images"
STUDENTS = 120


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        samples, handed_in = graded_samples(Path(folder))
        grades = Path(folder) / "grades"
        make_class(grades, samples, STUDENTS)
        with Gradebook(grades) as gradebook:
            gradebook.requests.add(
                [("jonas", "1.b.i", "I wrote the projection with its inverse: is that not the same?")]
            )
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(grades, "--by", "Kim", "--submissions", handed_in) as server:
            desk = browser.new_page(viewport={"width": 1200, "height": 690})
            phone = browser.new_page(viewport={"width": 390, "height": 1100}, color_scheme="dark")
            for page in (desk, phone):
                page.goto(server.address)
                page.wait_for_url(f"{server.base}/")
            _decide_some(desk, server.base)
            desk.goto(f"{server.base}/parts/1.b.i{_place_of('alice')}")
            _take(desk, "answer")
            desk.goto(f"{server.base}/parts/1.b.i{_place_of('pat')}")
            desk.locator("figure.page img").evaluate("image => image.decode()")
            _take(desk, "pdf")
            desk.goto(f"{server.base}/parts/1.b.i/groups")
            _take(desk, "groups")
            desk.goto(f"{server.base}/requests")
            _take(desk, "request")
            phone.goto(f"{server.base}/parts/1.a.ii")
            _take(phone, "phone")
        browser.close()


def _place_of(student: str) -> str:
    return f"/answers/{key_of(student)}"


def _decide_some(page: Page, base: str) -> None:
    for keys in ("a", "f", "ga", "0"):
        page.goto(f"{base}/parts/1.a.i")
        for key in keys:
            page.wait_for_selector("html[data-ready]")
            page.keyboard.press(key)
        page.wait_for_selector(".said")


def _take(page: Page, name: str) -> None:
    page.wait_for_selector("html[data-ready]")
    page.wait_for_load_state("networkidle")
    path = IMAGES / f"review-{name}.png"
    page.screenshot(path=path)
    print(f"{path.relative_to(REPOSITORY)}: {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
