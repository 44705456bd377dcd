"""A class of 300, graded once for all tests of review; each test decides in a copy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from grader.batch.gradebook import Result
from tests.report.test_browser import BROWSER
from tests.review.sample_class import graded_samples, make_class
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Result], Path]:
    """Real results, and where their files were handed in."""
    return graded_samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="session")
def class_of_300(samples: tuple[list[Result], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    make_class(folder, samples[0], 300)
    return folder


@pytest.fixture
def grades(class_of_300: Path, tmp_path: Path) -> Path:
    """A copy that may be decided."""
    shutil.copytree(class_of_300, tmp_path / "grades")
    return tmp_path / "grades"


@pytest.fixture(scope="module")  # of a session there can be only one, and other modules have theirs
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=1000 * PATIENCE_SECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()
