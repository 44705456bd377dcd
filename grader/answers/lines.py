"""What every format is turned into before it is cut: lines of pieces, in order."""

from __future__ import annotations

from dataclasses import dataclass

from grader.model import Piece


@dataclass
class Line:
    number: int  # of its file, from 1; in a PDF, counted over all pages
    pieces: list[Piece]
    level: int = 0  # of a heading, 1 the highest; 0 for running text
    bold: bool = False  # all of it
    opens_block: bool = True  # the first line of its paragraph, item or formula
    marker: str = ""  # what a list printed in front of it: "2.", "(b)"
    count: int = 0  # which heading or item it is, where LaTeX numbers them
    numeral: str = ""  # how it is then written: "1", "a" or "i"
    opens_item: bool = False  # the first line of an item of a list
    depth: int = 0  # how many lists it stands in
    opens_solution: bool = False  # here an environment for solutions begins
    in_solution: bool = False  # it stands in one
    listed: bool = False  # an item of a list whose depth is sure, as it is in LaTeX
    file: str = ""  # where it stands, if not in the sheet itself: a sheet may take in other files
    page: int = 0  # of a PDF, from 1; 0 where there are no pages

    @property
    def lead(self) -> str:
        """The words it begins with, up to the first formula or code."""
        words = self.pieces[0].text if self.begins_with_words else ""
        return f"{self.marker} {words}".strip() if self.marker else words

    @property
    def begins_with_words(self) -> bool:
        """Rather than with a formula or code. In headings code is words, too: some write ## `b.ii`."""
        return bool(self.pieces) and self.pieces[0].kind in (("prose", "code") if self.level else ("prose",))

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)

    @property
    def has_formula(self) -> bool:
        return any(piece.kind != "prose" or "=" in piece.text for piece in self.pieces)
