"""What was written: a sheet of answers, cut into parts, and each part into pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Piece:
    """A stretch of a written answer, as it was written."""

    kind: Literal["prose", "math", "code"]
    text: str
    line: int  # of the file, from 1


@dataclass(frozen=True)
class Place:
    """Where on a page something stands, so that a person can be shown it."""

    page: int  # from 1
    box: tuple[float, float, float, float] | None = None  # left, bottom, right, top, in points from the lower left


@dataclass(frozen=True)
class Answer:
    """What was written for one part."""

    part: str
    file: str
    line: int
    pieces: tuple[Piece, ...]
    items: frozenset[int] = frozenset()  # the lines on which items of lists begin
    places: tuple[Place, ...] = ()  # of a PDF, one for each page it is on
    doubt: str = ""  # why it may have been read otherwise than it was written

    @property
    def text(self) -> str:
        """All of it, line by line, whatever kind its pieces are."""
        told: list[str] = []
        line = 0  # on which the piece before ends
        for piece in self.pieces:
            told += [" " if piece.line == line else "\n", piece.text]
            line = piece.line + piece.text.count("\n")
        return "".join(told[1:])

    @property
    def prose(self) -> str:
        return "\n".join(piece.text for piece in self.pieces if piece.kind == "prose")


@dataclass(frozen=True)
class Answers:
    """A submission's answer sheet, cut into parts."""

    parts: Mapping[str, Answer]
    notes: tuple[str, ...] = ()  # what in it could not be placed, each with its line
    files: tuple[str, ...] = ()  # what was read
    guessed: frozenset[str] = frozenset()  # parts that are not plainly labelled as such
    unplaced: Mapping[str, str] = field(default_factory=dict)  # parts not found → where text is that may be theirs
    pdf: str = ""  # the PDF it was read from: a part that was not found may stand there all the same
    unread: str = ""  # why that PDF could not be read at all
    pages: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # where in it parts are, says submission.yaml
