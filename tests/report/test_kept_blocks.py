"""What is said of a check is drawn once for all of whom it is said; nobody gets another's words, however alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.report import html
from grader.report.html import student_page
from tests.report.made_reports import Data, Page, checked, problem, report
from tests.report.test_html import HOSTILE


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    html._kept_block.cache_clear()
    yield
    html._kept_block.cache_clear()


def _page(*checks: Data, name: str = "ann", **about: Any) -> str:
    return student_page(report(name, problem("1.a", *checks) | about))


def _decided(by: str) -> Data:
    said = {"by": by, "at": "2026-01-01T00:00:00+00:00", "kind": "override", "comment": "", "items": [], "was": 0}
    return {"status": "passed", "decision": said | {"found": "review"}}


@pytest.mark.parametrize(
    "changed",
    [
        lambda check: check | {"message": "off by 0.3"},
        lambda check: check | {"id": "rows_sum_to_ones"},
        lambda check: check | {"asks": "Each row sums to 1."},
        lambda check: check | {"points": 0.25},
        lambda check: check | {"max_points": 2},
        lambda check: check | {"status": "crashed"},
        lambda check: check | {"visibility": "hidden"},
        lambda check: check | {"evidence": {"rows": [1, 2, 4], "read_as": "q"}},
        lambda check: check | {"evidence": {"rows": [1, 2, 3], "read_as": "k"}},
        lambda check: check | {"evidence": {"rows": [1, 2, True], "read_as": "q"}},
        lambda check: check | {"evidence": {"read_as": "q", "rows": [1, 2, 3], "colums": 1}},
    ],
)
def test_blocks_that_differ_in_one_thing_are_two(changed: Callable[[Data], Data]) -> None:
    check = checked(evidence={"rows": [1, 2, 3], "read_as": "q"})
    first, second = _page(check), _page(changed(check))
    html._kept_block.cache_clear()
    assert first != second == _page(changed(check))


def test_who_decided_is_part_of_what_is_said() -> None:
    waiting = checked(status="review")
    first, second = (_page(waiting, **_decided(by)) for by in ("tina", "tino"))
    assert "decided by tina</span>" in first
    assert "decided by tino</span>" in second
    assert "decided by" not in _page(waiting)


def test_the_same_words_are_drawn_once_whoever_they_are_said_to() -> None:
    for number in range(5):
        page = _page(checked(seconds=number / 7), checked("is_finite", "passed"), name=f"s{number}")
        assert "off by 0.2" in page
    assert (html._kept_block.cache_info().misses, html._kept_block.cache_info().hits) == (2, 8)


def test_hostile_words_are_as_harmless_the_second_time() -> None:
    hostile = checked(HOSTILE, message=HOSTILE, asks=HOSTILE, evidence={HOSTILE: HOSTILE, "read_as": HOSTILE})
    first, again = (_page(hostile, **_decided(HOSTILE)) for _ in range(2))
    assert html._kept_block.cache_info().hits == 1
    assert first == again
    assert not {"script", "img"} & {element for element, _ in Page(again).elements}
    assert "\u202e" not in again


def test_what_is_kept_is_bounded() -> None:
    for number in range(html._KEPT_BLOCKS + 20):
        _page(checked(message=f"off by {number}"))
    assert html._kept_block.cache_info().currsize == html._KEPT_BLOCKS
    html._kept_block.cache_clear()
    assert "x" * 3000 in _page(checked(evidence={"long": "x" * 3000, "longer": "y" * html._LONGEST_KEPT}))
    assert html._kept_block.cache_info().currsize == 0
