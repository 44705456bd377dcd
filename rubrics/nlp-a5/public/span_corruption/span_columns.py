"""Many spans at once: their lengths side by side, for statistics over thousands of draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grader import Array

from .spans import MASK, PAD, Span

_NO_LETTER = 2**32 - 1
_PAD, _MASK = ord(PAD), ord(MASK)


@dataclass(frozen=True, eq=False)
class Spans:
    """What `Span` says of one draw, as columns."""

    prefix: Array
    masked: Array
    suffix: Array
    blanks: Array
    exact: Array

    @classmethod
    def of(cls, spans: Sequence[Span]) -> Spans:
        rows = [(span.prefix, span.masked, span.suffix, span.blanks, span.exact) for span in spans]
        prefix, masked, suffix, blanks, exact = np.array(rows, np.int64).reshape(-1, 5).T
        return cls(prefix, masked, suffix, blanks, exact.astype(bool))

    @cached_property
    def kept(self) -> Array:
        """The lengths that the document was truncated to."""
        return self.prefix + self.masked + self.suffix

    def __len__(self) -> int:
        return len(self.prefix)

    def __getitem__(self, some: Array | slice) -> Spans:
        return Spans(*(column[some] for column in self._columns))

    @property
    def _columns(self) -> tuple[Array, ...]:
        return self.prefix, self.masked, self.suffix, self.blanks, self.exact

    def with_rows(self, rows: Array, spans: Sequence[Span]) -> Spans:
        """These spans in place of what stands in those rows."""
        columns = [column.copy() for column in self._columns]
        for column, new in zip(columns, Spans.of(spans)._columns, strict=True):
            column[rows] = new
        return Spans(*columns)


def joined(several: Sequence[Spans]) -> Spans:
    return Spans(*(np.concatenate(columns) for columns in zip(*(one._columns for one in several), strict=True)))


def spans_at_the_beginning(texts: Array, document: str) -> tuple[Spans, Array]:
    """The spans of texts, one row of character codes each, and which of them were read.

    Read are those that are prefix ⁇ suffix ⁇ masked, perhaps another ⁇, and pads, whose pieces in order are the
    beginning of the document. That is what most data sets give; all others are for `read_span` and `measured`, which
    find the same spans in these, one by one.
    """
    count, width = texts.shape
    rows, columns = np.arange(count), np.arange(width, dtype=np.int32)
    filled, is_mask = texts != _PAD, texts == _MASK
    end, marks = filled.sum(axis=1, dtype=np.int32), is_mask.sum(axis=1)
    left = is_mask.copy()
    first, second, third = (_take_out_the_first(left, rows) for _ in range(3))
    closed = (marks == 3) & (third == end - 1)
    stop = end - closed
    masked, suffix = stop - second - 1, second - first - 1
    behind_first, behind_second = columns > first[:, None], columns > second[:, None]
    # Where in the document a character should stand: the suffix comes after what is masked, and that after the prefix.
    moved = behind_first * (masked - 1)[:, None] + behind_second * (first - second - masked)[:, None]
    letters = np.array([*map(ord, document), _NO_LETTER], "<u4")
    wanted = letters[np.clip(columns + moved, 0, len(document))]
    in_place = (wanted == texts) | is_mask | ~filled
    pads_last = filled == (columns < end[:, None])
    read = ((marks == 2) | closed) & (in_place & pads_last).all(axis=1)
    kept = (first + masked + suffix).clip(0, len(document))
    blanks = letters[kept] == ord(" ")
    first, masked, suffix, blanks = (column.astype(np.int64) for column in (first, masked, suffix, blanks))
    return Spans(first, masked, suffix, blanks, np.ones(count, bool)), read


def _take_out_the_first(marks: Array, rows: Array) -> Array:
    """In which column the first mark of each row is; it is taken out, so that the next call finds the second."""
    found: Array = marks.argmax(axis=1).astype(np.int32)
    marks[rows, found] = False
    return found
