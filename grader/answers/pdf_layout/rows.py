"""The boxes of a page → rows, from top to bottom, one column after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from grader.answers.pdf_layout.boxes import GlyphBox, body_size
from grader.answers.pdf_layout.row_text import SMALLER, Word, words_of

_SAME_LINE = 0.15  # of the size: letters of one row differ by less
_HIGHEST, _LOWEST = 0.95, 0.6  # of the size: how far powers are raised and indices lowered at most
_NEAR = 0.45  # of the size: how far an index stands from what it belongs to
_AXIS = 0.25
_CROWDED = 0.95  # of the size: rows that are nearer to each other, and not side by side, are stacked
_COLUMN_SHARE = 0.25  # of the letters stand on either side of a gutter
_GAP_OF_COLUMNS = 0.7  # of the size: wider than any blank between words
_GUTTER = 0.1  # of the lines may run across it, as wide formulas do
_LINES_OF_TITLE = 12


@dataclass
class Row:
    y: int
    size: int
    boxes: list[GlyphBox] = field(default_factory=list)
    is_crowded: bool = False  # something stands so near above or below it that it may belong to it

    @property
    def left(self) -> int:
        return min(box.left for box in self.boxes)

    @property
    def right(self) -> int:
        return max(box.right for box in self.boxes)

    @property
    def bottom(self) -> int:
        return min(min(box.bottom for box in self.boxes), self.y)

    @property
    def top(self) -> int:
        return max(box.top for box in self.boxes)

    @cached_property
    def words(self) -> list[Word]:
        """Asked for when all its boxes are there."""
        words = words_of(self.boxes, self.y, self.size)
        return [replace(word, is_doubtful=True) for word in words] if self.is_crowded else words


def rows_of(boxes: Sequence[GlyphBox], body: int, width: int) -> list[Row]:
    found: list[Row] = []
    for column in _columns(boxes, width):
        rows = _rows(column, body)
        _note_crowding(rows)
        found += sorted(rows, key=lambda row: (-row.y, row.left))
    return found


def _rows(boxes: Sequence[GlyphBox], body: int) -> list[Row]:
    large = [box for box in boxes if box.size >= SMALLER * body and not box.is_large_sign]
    rows: list[Row] = []
    for box in sorted(large, key=lambda box: (-box.y, box.left)):
        row = next((row for row in rows[-3:] if abs(row.y - box.y) <= _SAME_LINE * min(row.size, box.size)), None)
        if row is None:
            rows.append(row := Row(box.y, box.size))
        row.boxes.append(box)
        row.size = max(row.size, box.size)
    small = [box for box in boxes if box.size < SMALLER * body and not box.is_large_sign]
    _attach(rows, small)
    for sign in (box for box in boxes if box.is_large_sign):
        middle = (sign.bottom + sign.top) // 2 - round(_AXIS * sign.size)
        row = min(rows, key=lambda row: abs(row.y - middle), default=None)
        if row is None or abs(row.y - middle) > row.size:
            rows.append(row := Row(middle, sign.size))
        row.boxes.append(sign.on(row.y))
    return rows


def _attach(rows: list[Row], small: Sequence[GlyphBox]) -> None:
    """Small letters go to the row they are indices or powers in; the others make up rows of their own."""
    own: list[Row] = []
    homeless = list(_runs(small))
    for run in list(homeless):
        if home := _home(rows, run):
            home.boxes += run
            homeless.remove(run)
    for run in homeless:  # a power within a power stands beside what has a home by now
        home = _home(rows, run)
        if home is None:
            y = run[0].y
            home = next((row for row in own if abs(row.y - y) <= _SAME_LINE * row.size), None)
            if home is None:
                own.append(home := Row(y, max(box.size for box in run)))
        home.boxes += run
    rows += own


def _runs(small: Sequence[GlyphBox]) -> Iterator[list[GlyphBox]]:
    """Small letters that follow each other without room for a word between them, indices of their own included."""
    run: list[GlyphBox] = []
    right = 0
    for box in sorted(small, key=lambda box: (-round(box.y / 60), box.left)):
        near = (
            bool(run)
            and abs(box.y - run[-1].y) <= 0.6 * run[-1].size
            and -box.size < box.left - right < _NEAR * box.size
        )
        if run and not near:
            yield run
            run = []
        run.append(box)
        right = max(right, box.right) if len(run) > 1 else box.right
    if run:
        yield run


def _home(rows: Sequence[Row], run: Sequence[GlyphBox]) -> Row | None:
    first, left, right = run[0], min(box.left for box in run), max(box.right for box in run)
    best: tuple[float, Row] | None = None
    for row in rows:
        shift = first.y - row.y
        if not -_LOWEST * row.size <= shift <= _HIGHEST * row.size:
            continue
        before = [left - box.right for box in row.boxes if box.left < left]
        after = [box.left - right for box in row.boxes if box.left >= left]
        gap = min((abs(one) for one in before if one > -row.size), default=10 * row.size)
        ahead = min((abs(one) for one in after), default=10 * row.size)
        if min(gap, 1.5 * ahead) > _NEAR * row.size:
            continue
        distance = abs(shift) + min(gap, 2 * ahead)
        if best is None or distance < best[0]:
            best = distance, row
    return best[1] if best else None


def _note_crowding(rows: Sequence[Row]) -> None:
    ordered = sorted(rows, key=lambda row: -row.y)
    extents = [(row.left, row.right) for row in ordered]
    largest = max((row.size for row in rows), default=0)
    for index, row in enumerate(ordered):
        for following in range(index + 1, len(ordered)):
            other = ordered[following]
            apart, size = row.y - other.y, max(row.size, other.size)
            if apart >= _CROWDED * largest:
                break
            (left, right), (other_left, other_right) = extents[index], extents[following]
            beside = right <= other_left or other_right <= left
            near = max(left, other_left) - min(right, other_right) < 2 * size
            if apart < _CROWDED * size and near and (not beside or apart > _SAME_LINE * size):
                row.is_crowded = other.is_crowded = True


def _columns(boxes: Sequence[GlyphBox], width: int) -> list[list[GlyphBox]]:
    """Two, if a gutter runs down the middle of the page, and before them what stands across it at the top."""
    if not boxes:
        return []
    lines, height = _lines(boxes), max(box.y for box in boxes)
    for share in (50, 49, 51, 48, 52, 47, 53):
        gutter = width * share // 100
        head = _head(lines, gutter)
        edge = (lines[head - 1][0].y + lines[head][0].y) // 2 if 0 < head < len(lines) else height
        top, rest = [box for box in boxes if box.y > edge], [box for box in boxes if box.y <= edge]
        sides = [box for box in rest if box.middle < gutter], [box for box in rest if box.middle >= gutter]
        if 2 * len(rest) < len(boxes) or min(map(len, sides)) < _COLUMN_SHARE * len(rest):
            continue
        across = sum(_runs_across(line, gutter) for line in lines[head:])
        if across <= _GUTTER * (len(lines) - head) and _is_clear(sides):
            return [*([top] if top else []), *sides]
    return [list(boxes)]


def _lines(boxes: Sequence[GlyphBox]) -> list[list[GlyphBox]]:
    """What stands on the same line of the page, from top to bottom."""
    lines: list[list[GlyphBox]] = []
    size = body_size(boxes)
    for box in sorted((box for box in boxes if box.size >= SMALLER * size), key=lambda box: -box.y):
        if lines and lines[-1][0].y - box.y <= _SAME_LINE * box.size:
            lines[-1].append(box)
        else:
            lines.append([box])
    return lines


def _runs_across(line: Sequence[GlyphBox], gutter: int) -> bool:
    reach = max((box.right for box in line if box.middle < gutter), default=None)
    edge = min((box.left for box in line if box.middle >= gutter), default=None)
    return reach is not None and edge is not None and edge - reach <= _GAP_OF_COLUMNS * line[0].size


def _head(lines: Sequence[Sequence[GlyphBox]], gutter: int) -> int:
    """How many lines at the top make up a title over both columns."""
    head = across = 0
    for index, line in enumerate(lines[:_LINES_OF_TITLE]):
        across += (here := _runs_across(line, gutter))
        if here and 2 * across > index:
            head = index + 1
    return head


def _is_clear(sides: tuple[list[GlyphBox], list[GlyphBox]]) -> bool:
    """Whether rows on both sides end and begin alike, with a gap between them as wide as no blank is."""
    left, right = sides
    size = left[0].size
    edge = sorted(box.left for box in right)[len(right) // 50]
    reach = sorted(box.right for box in left)[-1 - len(left) // 50]
    return edge - reach > _GAP_OF_COLUMNS * size
