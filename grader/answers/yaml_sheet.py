"""answers.yaml → what was written for each part: `b.ii: {y: "\\\\alpha (2 u - w)", because: "…"}`."""

from __future__ import annotations

import re
from typing import Any

from grader.answers.labels import read_label
from grader.answers.markdown_sheet import inline_pieces
from grader.answers.outline import Node, Outline
from grader.answers.part_cursor import PartCursor
from grader.answers.sheet_notes import SheetNotes
from grader.answers.unseen import seen
from grader.errors import WrongKind
from grader.model import Answer, Answers, Piece
from grader.quoting import quote
from grader.rubric.yaml_source import Path, Source, YamlError, read

# PyYAML reads each character in Python, twice here; so much takes about a second, and is more than anybody types.
MAX_CHARACTERS = 2**16
_WORDS = (
    "because",
    "why",
    "justification",
    "explanation",
    "reason",
    "text",
    "prose",
    "answer",
    "argument",
    "proof",
    "note",
)


def cut_yaml(text: str, file: str, outline: Outline) -> Answers:
    if len(text) > MAX_CHARACTERS:
        message = f"{quote(file)}:1: longer than {MAX_CHARACTERS} characters; write long answers in answers.md"
        raise WrongKind(message, code="sheet_too_long")
    try:
        source = read(text)
    except YamlError as error:
        is_syntax = error.cause.startswith("not YAML")
        fix = "; put text with colons, quotes or backslashes after '|' on lines of its own" if is_syntax else ""
        raise WrongKind(f"{quote(file)}:{error.line}: {quote(error.cause)}{fix}", code="not_yaml") from None
    if source.data is None:
        return Answers({})
    if not isinstance(source.data, dict):
        example = outline.parts[0] if outline.parts else "1"
        message = f"{quote(file)}:1: a sheet names the part before each answer, as in '{example}: …'"
        raise WrongKind(message, code="unplaced_answer")
    sheet = _Sheet(file, outline, source)
    sheet.take(source.data, (), ())
    return sheet.finish()


class _Sheet:
    def __init__(self, file: str, outline: Outline, source: Source) -> None:
        self._file = file
        self._outline = outline
        self._source = source
        self._found: dict[Node, Answer] = {}
        self._notes = SheetNotes(file, outline)

    def take(self, data: dict[str, Any], path: Path, node: Node) -> None:
        """The map below a question: its keys name parts."""
        for key, value in data.items():
            place = (*path, key)
            part = self._part(key, node)
            if part is None:
                self._unknown(key, place, node)
            elif part in self._outline.leaves:
                self._answer(part, value, place)
            elif isinstance(value, dict):
                self.take(value, place, part)
            elif isinstance(value, list):
                counted = {str(number): item for number, item in enumerate(value, start=1)}
                for number, item in counted.items():
                    leaf = self._outline.counted_child(part, number)
                    if leaf in self._outline.leaves and leaf is not None:
                        self._answer(leaf, item, (*place, int(number) - 1))
            elif value is not None:
                self._above_parts(part, value, place)

    def finish(self) -> Answers:
        parts = {name: self._found[node] for node, name in self._outline.leaves.items() if node in self._found}
        return Answers(parts, self._notes.all())

    def _part(self, key: str, node: Node) -> Node | None:
        label = read_label(key, heading=True)
        if label is None or label.rest:
            return None
        cursor = PartCursor(
            self._outline, node=node, furthest=max((self._outline.place(n) for n in self._found), default=-1)
        )
        found = self._outline.descend(node, label.steps) or cursor.heading(label, 1)
        for _, chosen, several in cursor.notes:
            if several:
                self._notes.add(
                    self._source.line((key,)), f"'{quote(key, 40)}' is taken for {self._outline.name(chosen)}"
                )
        return found if found is None or found[: len(node)] == node else None

    def _above_parts(self, part: Node, value: Any, place: Path) -> None:
        leaves = self._outline.leaves_under(part)
        if len(leaves) == 1:
            self._answer(leaves[0], value, place)
            return
        line, first = self._source.line(place), self._outline.name(leaves[0])
        name = self._outline.name(part)
        self._notes.add(
            line, f"this stands under {name}, but under none of its parts; name the part, as in '{first}: …'"
        )

    def _answer(self, part: Node, value: Any, place: Path) -> None:
        line, name = self._source.line(place), self._outline.name(part)
        pieces = tuple(self._pieces(value, place, ""))
        if not pieces:
            self._notes.add(line, f"{name} is empty")
            return
        if part in self._found:
            self._notes.answered_twice(line, name, self._found[part].line)
        self._found[part] = Answer(name, self._file, line, pieces)

    def _pieces(self, value: Any, place: Path, key: str) -> list[Piece]:
        line = self._source.line(place)
        if isinstance(value, dict):
            return [piece for name, below in value.items() for piece in self._pieces(below, (*place, name), name)]
        if isinstance(value, list):
            items = [self._pieces(below, (*place, index), key) for index, below in enumerate(value)]
            is_field = bool(key) and key.lower() not in _WORDS
            between = [Piece("prose", "or", line)] if is_field else []  # of several formulas in a field one is meant
            filled = [item for item in items if item]
            return [piece for index, item in enumerate(filled) for piece in (*(between if index else []), *item)]
        if value is None or not str(value).strip():
            return []
        visible = seen(str(getattr(value, "text", value)))
        for note in visible.notes:
            self._notes.add(line, note.partition(": ")[2])
        text = visible.text.strip()
        if not key or key.lower() in _WORDS or "$" in text or "\\(" in text:
            return inline_pieces(text, line)
        says_it_itself = re.match(re.escape(key) + r"\s*(?:=|\\approx|≈)", text)
        return [Piece("math", text if says_it_itself else f"{key} = {text}", line)]

    def _unknown(self, key: str, place: Path, node: Node) -> None:
        known = [name for leaf, name in self._outline.leaves.items() if leaf[: len(node)] == node]
        self._notes.no_part(self._source.line(place), key, ".".join([*node, key]), known)
