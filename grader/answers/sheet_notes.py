"""Notes on what a sheet's reader could not place: one line each, in the order of the sheet, and not too many."""

from __future__ import annotations

from collections.abc import Iterable

from grader.answers.lines import Line
from grader.answers.outline import Outline
from grader.quoting import quote
from grader.rubric.hints import did_you_mean

MAX_NOTES = 20


class SheetNotes:
    def __init__(self, file: str, outline: Outline) -> None:
        self._file = file
        self._files = [file]  # in the order they were first spoken of
        self._parts = len(outline.parts)
        self._notes: list[tuple[int, int, int, str]] = []

    def add(self, at: Line | int, text: str) -> None:
        """Note what there is to say about a line; a number is a line of the sheet's own file."""
        line = Line(at, []) if isinstance(at, int) else at
        file = line.file or self._file
        if file not in self._files:
            self._files.append(file)
        self._notes.append((self._files.index(file), line.page, line.number, f"{self.place(line)}: {text}"))

    def place(self, line: Line) -> str:
        file = quote(line.file or self._file, 80)
        return f"{file}, page {line.page}" if line.page else f"{file}:{line.number}"

    def no_part(self, line: Line | int, written: str, meant: str, known: Iterable[str]) -> None:
        """Note a label that leads nowhere, with the parts that may be `meant`."""
        near = did_you_mean(meant, known).replace("; known:", "; parts are", 1)
        self.add(line, f"'{quote(written, 40)}' is no part of this assignment{near}")

    def answered_twice(self, line: Line | int, part: str, before: Line | int) -> None:
        earlier = Line(before, []) if isinstance(before, int) else before
        here = "" if isinstance(line, int) else line.file
        where = f"page {earlier.page}" if earlier.page else f"line {earlier.number}"
        where = where if earlier.file == here else self.place(earlier)
        self.add(line, f"{part} was answered in {where} already; this later answer counts")

    def all(self) -> tuple[str, ...]:
        notes = [text for *_, text in sorted(dict.fromkeys(self._notes))]
        empty = sum(text.endswith(" is empty") for text in notes)
        most = MAX_NOTES + min(empty, self._parts)  # a sheet not yet filled in hides no other note
        more = len(notes) - most
        return (*notes[:most], f"{quote(self._file, 80)}: {more} more like these") if more > 0 else tuple(notes)
