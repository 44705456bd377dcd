"""What every page repeats: heads, feet, numbers of pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from grader.answers.labels import Label, read_label
from grader.answers.pdf_layout.rows import Row

_MARGIN = 0.17  # of the height of a page: LaTeX leaves a sixth of A4 empty
_ROWS = 3  # heads and feet have no more
_HEADS = 3  # pages with the same label above them
_PAGE_NUMBER = re.compile(r"\W*(?:page\s*)?(?:\d{1,3}|[ivx]{1,5})(?:\s*(?:/|of)\s*\d{1,3})?\W*", re.IGNORECASE)


def without_margins(pages: Sequence[tuple[list[Row], int]]) -> list[list[Row]]:
    """The rows of each page, given with its height, less what stands in the margins of more than one page.

    A page that would have no row left keeps its rows: they are what it says.
    """
    outer = [_outer(rows, height) for rows, height in pages]
    repeated = Counter(key for page, rows in enumerate(outer, 1) for key in {_words(row, page) for row in rows})
    kept = []
    for page, (rows, _) in enumerate(pages, start=1):
        times = {id(row): repeated[_words(row, page)] for row in outer[page - 1]}
        numbers = {id(row) for row in outer[page - 1] if _is_number(row)}
        heads = {id(row) for row in outer[page - 1] if times[id(row)] > 1 and not _is_label(row, times[id(row)])}
        left = [row for row in rows if id(row) not in numbers | heads]
        kept.append(left or [row for row in rows if id(row) not in numbers])
    return kept


def _outer(rows: Sequence[Row], height: int) -> list[Row]:
    """The first and last rows, as far as they stand in a margin."""
    return [
        *(row for row in rows[:_ROWS] if row.y > (1 - _MARGIN) * height),
        *(row for row in rows[-_ROWS:] if row.y < _MARGIN * height),
    ]


def _words(row: Row, page: int) -> str:
    """What it says, whatever the number of the page; but `Question 2` on page 2 is another than `Question 1`."""
    text = _text(row).lower()
    return text if _label(row) else re.sub(rf"(?<!\d){page}(?!\d)", "#", text)


def _text(row: Row) -> str:
    return " ".join(word.text for word in row.words)


def _label(row: Row) -> Label | None:
    """The label that is all it says."""
    label = read_label(_text(row))
    return label if label and not label.rest.strip() else None


def _is_label(row: Row, times: int) -> bool:
    """`Question 2` or `(a)` begins an answer, though other pages begin so; `Question 2` on each page is a head."""
    label = _label(row)
    return label is not None and not (label.named and times >= _HEADS)


def _is_number(row: Row) -> bool:
    """A lone number; a label such as `(b)` or `2.` at the top of a page is none."""
    text = _text(row)
    return bool(_PAGE_NUMBER.fullmatch(text)) and not re.search(r"[).:]\s*$", text)
