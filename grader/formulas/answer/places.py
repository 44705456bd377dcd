"""Where in an answer something stands, and what there cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from grader.formulas.syntax.expressions import Symbol
from grader.quoting import quote


@dataclass(frozen=True, order=True)
class Place:
    """Where in the answer sheet something stands."""

    file: str
    piece: int  # its number among the answer's pieces: columns count from where a piece begins
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Fault:
    """Something written that cannot be read."""

    cause: str
    place: Place
    text: str
    defines: frozenset[Symbol] = frozenset()  # the letters that were being defined when it went wrong

    def __str__(self) -> str:
        return f"{self.place}: in '{quote(self.text, 60)}' {self.cause}"
