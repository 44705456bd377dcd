"""Rows of a PDF → lines as every format has them: headings by size, formulas by font, words joined across lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from grader.answers.labels import read_label
from grader.answers.lines import Line
from grader.answers.pdf.process import PdfGlyphs
from grader.answers.pdf_formulas import Cut, cut_rows
from grader.answers.pdf_layout.boxes import UNREADABLE, body_size, boxes_of
from grader.answers.pdf_layout.margins import without_margins
from grader.answers.pdf_layout.row_text import Word
from grader.answers.pdf_layout.rows import Row, rows_of
from grader.answers.pdf_layout.stacked import put_together
from grader.model import Place
from grader.notation import word_lists

_HEADING = 1.12  # times the size of the text
_HEADING_WORDS = 16
_NEW_BLOCK = 1.35  # times the usual distance of rows
_INDENT = 0.8  # times the size
_SHORT = 0.8  # of the width of the text: a row that ends before is the last of its paragraph
_NUMBER_OF_EQUATION = re.compile(r"\(\d{1,2}(?:\.\d{1,2})?\)")
_ENDS_WITH_HYPHEN = re.compile(r"(?<=[^\W\d_])-$")
# First halves of words that keep their hyphen wherever a row ends.
_KEEPS_HYPHEN = word_lists.words(
    "self multi cross low high non one two soft hard fully dot inner well long short key query"
)
_SOLUTION = re.compile(r"Solutions?[:.]")
_TEMPLATE = 3  # as many rows that begin with "Solution:" come from a template, and questions stand before them
_FEW_LETTERS = 150  # two rows: a heading, a name, a number of the page
_WRITTEN_BY_HAND = 20  # strokes of a pen; frames and tables have fewer
_MOST_UNREADABLE = 0.2  # of the letters of a page: then its fonts say nothing


@dataclass
class PdfLines:
    lines: list[Line] = field(default_factory=list)
    places: dict[int, Place] = field(default_factory=dict)  # of each line, by its number
    doubtful: set[int] = field(default_factory=set)  # lines whose formulas may have been put together wrongly
    unread: list[int] = field(
        default_factory=list
    )  # pages without text, or with no more than a heading beside a drawing
    unseen: list[int] = field(default_factory=list)  # pages with letters that no reader sees, or that are struck out


def pdf_lines(glyphs: PdfGlyphs) -> PdfLines:
    found = PdfLines()
    pages: list[tuple[list[Row], int]] = []
    sizes: Counter[int] = Counter()
    for number, page in enumerate(glyphs.pages, start=1):
        boxes, unseen = boxes_of(page, glyphs.fonts)
        if sum(UNREADABLE in box.text for box in boxes) > _MOST_UNREADABLE * len(boxes):
            boxes = []
        body = body_size(boxes)
        boxes = put_together(boxes, page.rules, body)
        if unseen or any(box.is_struck for box in boxes):
            found.unseen.append(number)
        if not boxes or (len(boxes) < _FEW_LETTERS and (page.pictures or page.strokes > _WRITTEN_BY_HAND)):
            found.unread.append(number)
        rows = rows_of([box for box in boxes if not box.is_struck], body, page.width)
        for row in rows:
            sizes[row.size] += len(row.boxes)
        pages.append((rows, page.height))
    body = max(sizes, key=lambda size: sizes[size], default=0)
    width = max((page.width for page in glyphs.pages), default=0)
    _Writer(found, body, sizes, width).write(without_margins(pages))
    return found


class _Writer:
    def __init__(self, found: PdfLines, body: int, sizes: Counter[int], width: int) -> None:
        self._found = found
        self._body = body
        self._width = width
        self._levels = sorted((size for size in sizes if size > _HEADING * body), reverse=True)

    def write(self, pages: Sequence[Sequence[Row]]) -> None:
        rows = [(number, row) for number, page in enumerate(pages, start=1) for row in page if row.boxes]
        written_rows = [_without_number(row.words) for _, row in rows]
        _join_hyphens(written_rows)
        solutions = sum(bool(written) and bool(_SOLUTION.match(written[0].text)) for written in written_rows)
        usual = self._usual_distance(pages)
        reach = self._usual_reach(pages)
        levels = [
            self._level(row, written) if written else 0 for (_, row), written in zip(rows, written_rows, strict=True)
        ]
        goes_on = [False] * len(rows)
        for at in range(1, len(rows)):
            begins = self._begins_paragraph(rows[at - 1], rows[at], usual, reach)
            goes_on[at] = not (begins or levels[at] or levels[at - 1])
        before: tuple[int, Row] | None = None
        for (page, row), cut, level in zip(rows, cut_rows(written_rows, goes_on), levels, strict=True):
            if cut.moved and self._found.lines:  # its formula stands with what it is the end of
                self._stretch(self._found.lines[-1].number, page, row, cut)
            if not cut.words:
                continue
            number = len(self._found.lines) + 1
            line = Line(number, cut.pieces(number), level=level, page=page)
            line.bold = all(word.is_bold for word in cut.words)
            line.opens_block = self._opens_block(before, (page, row), line, usual, reach)
            line.opens_solution = solutions >= _TEMPLATE and bool(_SOLUTION.match(cut.words[0].text))
            self._found.lines.append(line)
            self._found.places[number] = Place(page, _box(row))
            if any(word.is_doubtful for word in cut.words):
                self._found.doubtful.add(number)
            before = page, row

    def _stretch(self, number: int, page: int, row: Row, cut: Cut) -> None:
        """A line reaches over a row whose beginning belongs to it."""
        place = self._found.places[number]
        if place.page == page and place.box is not None and not cut.words:
            here, there = place.box, _box(row)
            lowest, highest = map(min, zip(here, there, strict=True)), map(max, zip(here, there, strict=True))
            left, bottom, _, _ = lowest
            _, _, right, top = highest
            self._found.places[number] = Place(page, (left, bottom, right, top))
        if any(word.is_doubtful for word in cut.moved):
            self._found.doubtful.add(number)

    def _level(self, row: Row, words: Sequence[Word]) -> int:
        if len(words) > _HEADING_WORDS or any(word.is_math for word in words[1:]):
            return 0
        if row.size in self._levels:
            return 1 + self._levels.index(row.size)
        text = " ".join(word.text for word in words)
        is_bold_title = all(word.is_bold for word in words) and (label := read_label(text, heading=True)) and label.rest
        return 1 + len(self._levels) if is_bold_title else 0

    def _usual_distance(self, pages: Sequence[Sequence[Row]]) -> int:
        apart = [one.y - other.y for page in pages for one, other in pairwise(page)]
        usual = sorted(one for one in apart if 0.8 * self._body < one < 2.5 * self._body)
        return usual[len(usual) // 3] if usual else round(1.2 * self._body)

    def _usual_reach(self, pages: Sequence[Sequence[Row]]) -> int:
        ends = sorted(row.right for page in pages for row in page)
        return max(ends[len(ends) * 9 // 10], self._width * 3 // 4) if ends else 0

    def _opens_block(
        self, before: tuple[int, Row] | None, here: tuple[int, Row], line: Line, usual: int, reach: int
    ) -> bool:
        if before is None:
            return True
        last, row = before[1], here[1]
        ended = last.right < _SHORT * reach
        if before[0] != here[0]:
            return ended
        if self._is_apart(last, row, usual):
            return True
        is_formula = not any(piece.kind == "prose" and piece.text.strip(" .,;") for piece in line.pieces)
        label = read_label(line.lead)
        return is_formula or (label is not None and (ended or len(label.steps) > 1 or line.bold))

    def _begins_paragraph(self, before: tuple[int, Row], here: tuple[int, Row], usual: int, reach: int) -> bool:
        if before[0] != here[0]:
            return before[1].right < _SHORT * reach
        return self._is_apart(before[1], here[1], usual)

    def _is_apart(self, last: Row, row: Row, usual: int) -> bool:
        return last.y - row.y > _NEW_BLOCK * usual or row.left < last.left - _INDENT * self._body


def _box(row: Row) -> tuple[float, float, float, float]:
    return row.left / 100, row.bottom / 100, row.right / 100, row.top / 100


def _without_number(words: list[Word]) -> list[Word]:
    """A displayed formula without the number at its right."""
    if len(words) > 1 and _NUMBER_OF_EQUATION.fullmatch(words[-1].text):
        far = words[-1].left - words[-2].right > 3 * (words[-1].right - words[-1].left)
        return words[:-1] if far and any(word.is_math for word in words) else words
    return words


def _join_hyphens(rows: Sequence[list[Word]]) -> None:
    """`atten-` and `tion` on the next row are one word; `self-` and `attention` keep their hyphen."""
    known = Counter(word.text.strip(".,;:()").lower() for words in rows for word in words)
    for words, following in pairwise(rows):
        if not words or not following or words[-1].is_math or not _ENDS_WITH_HYPHEN.search(words[-1].text):
            continue
        first, second = words[-1], following[0]
        if not second.text[:1].islower() or second.is_math:
            continue
        stem, rest = first.text[:-1], second.text
        joined = (stem + rest).strip(".,;:()").lower()
        hyphenated = f"{stem}-{rest}".strip(".,;:()").lower()
        keeps = known[hyphenated] > known[joined] or (not known[joined] and stem.lower() in _KEEPS_HYPHEN)
        text = f"{stem}-{rest}" if keeps else stem + rest
        doubtful = first.is_doubtful or second.is_doubtful
        words[-1] = Word(text, first.left, first.right, False, first.is_bold and second.is_bold, doubtful, False)
        del following[0]
