"""Notes on what a sheet's reader could not place: one line each, in the order of the sheet, and not too many."""

from __future__ import annotations

from collections.abc import Iterable

from grader.answers.outline import Outline
from grader.quoting import quote
from grader.suggestions import did_you_mean

MAX_NOTES = 20


class SheetNotes:
    def __init__(self, file: str, outline: Outline) -> None:
        self._file = quote(file, 80)
        self._parts = len(outline.parts)
        self._notes: list[tuple[int, str]] = []

    def add(self, line: int, text: str) -> None:
        self._notes.append((line, f"{self._file}:{line}: {text}"))

    def no_part(self, line: int, written: str, meant: str, known: Iterable[str]) -> None:
        """Note a label that leads nowhere, with the parts that may be `meant`."""
        near = did_you_mean(meant, known).replace("; known:", "; parts are", 1)
        self.add(line, f"'{quote(written, 40)}' is no part of this assignment{near}")

    def answered_twice(self, line: int, part: str, before: int) -> None:
        self.add(line, f"{part} was answered in line {before} already; this later answer counts")

    def all(self) -> tuple[str, ...]:
        notes = [text for _, text in sorted(dict.fromkeys(self._notes))]
        empty = sum(text.endswith(" is empty") for text in notes)
        most = MAX_NOTES + min(empty, self._parts)  # a sheet not yet filled in hides no other note
        more = len(notes) - most
        return (*notes[:most], f"{self._file}: {more} more like these") if more > 0 else tuple(notes)
