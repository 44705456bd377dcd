"""What every page repeats: heads, feet, numbers of pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from grader.answers.pdf_layout.rows import Row

_MARGIN = 0.17  # of the height of a page: LaTeX leaves a sixth of A4 empty
_ROWS = 3  # heads and feet have no more
_PAGE_NUMBER = re.compile(r"\W*(?:page\s*)?(?:\d{1,3}|[ivx]{1,5})(?:\s*(?:/|of)\s*\d{1,3})?\W*", re.IGNORECASE)


def without_margins(pages: Sequence[tuple[list[Row], int]]) -> list[list[Row]]:
    """The rows of each page, given with its height, less what stands in the margins of more than one page."""
    repeated = Counter(key for rows, height in pages for key in {_words(row) for row in _outer(rows, height)})
    kept = []
    for rows, height in pages:
        outer = {id(row) for row in _outer(rows, height) if repeated[_words(row)] > 1 or _is_number(row)}
        kept.append([row for row in rows if id(row) not in outer])
    return kept


def _outer(rows: Sequence[Row], height: int) -> list[Row]:
    """The first and last rows, as far as they stand in a margin."""
    return [
        *(row for row in rows[:_ROWS] if row.y > (1 - _MARGIN) * height),
        *(row for row in rows[-_ROWS:] if row.y < _MARGIN * height),
    ]


def _words(row: Row) -> str:
    return re.sub(r"\d+", "#", " ".join(word.text for word in row.words)).lower()


def _is_number(row: Row) -> bool:
    """A lone number; a label such as `(b)` or `2.` at the top of a page is none."""
    text = " ".join(word.text for word in row.words)
    return bool(_PAGE_NUMBER.fullmatch(text)) and not re.search(r"[).:]\s*$", text)
