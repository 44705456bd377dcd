"""Pages of PDFs as pictures: drawn in the jail, made of numbers that are checked."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from grader.answers.pdf.page_picture import page_picture, picture_of
from grader.answers.pdf.process import PdfNotRead
from tests.conftest import REPOSITORY

PDF = (REPOSITORY / "tests" / "answers" / "pdfs" / "wrong.pdf").read_bytes()


def _size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack("!II", png[16:24])
    return width, height


@pytest.mark.slow
def test_a_page_is_drawn_around_the_answer_or_as_a_whole() -> None:
    box = (100.0, 600.0, 300.0, 640.0)
    around = _size(page_picture(PDF, 1, [box]))
    whole = _size(page_picture(PDF, 1, [box], whole=True))
    assert around[0] == whole[0] == 1000
    assert 100 < around[1] < whole[1] / 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "page"), [(b"", 1), (b"%PDF-1.7 but no more", 1), (PDF[:2000], 1), (PDF, 7), (PDF, 0)]
)
def test_what_cannot_be_drawn_is_said_in_words(data: bytes, page: int) -> None:
    with pytest.raises(PdfNotRead, match=r"no such page|could not be drawn"):
        page_picture(data, page)


def _pixels(count: int) -> str:
    return base64.b64encode(bytes(4 * count)).decode()


GOOD: dict[str, Any] = {"width": 3, "height": 2, "scale": 1.0, "pixels": _pixels(6)}


def test_two_lines_above_and_below_an_answer_are_shown() -> None:
    page = {"width": 3, "height": 400, "scale": 1.0, "pixels": _pixels(1200)}
    assert _size(picture_of(page, [(0.0, 200.0, 1.0, 210.0)], whole=False)) == (3, 42 + 10 + 42)


def test_a_picture_is_made_of_what_the_child_said() -> None:
    assert _size(picture_of(GOOD, [(0.0, 0.0, 1.0, 1.0), (0.0, 5e9, 1.0, -5e9)], whole=True)) == (3, 2)


@pytest.mark.parametrize(
    "lie",
    [
        {"width": 4},
        {"width": -3, "height": -2},
        {"width": True},
        {"width": 10**9, "height": 10**9},
        {"scale": 0.0},
        {"scale": float("nan")},
        {"scale": float("inf")},
        {"scale": "1"},
        {"pixels": _pixels(5)},
        {"pixels": "no base64!"},
        {"pixels": None},
        {"refused": "anything"},
    ],
    ids=str,
)
def test_a_child_that_lies_is_not_believed(lie: dict[str, Any]) -> None:
    with pytest.raises(PdfNotRead):
        picture_of(GOOD | lie, [], whole=True)
