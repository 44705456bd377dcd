"""Written answers → words, part by part. Formulas and code are no words: everybody has to write the same ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from grader.model import Answer, Rubric
from grader.registry import definition_of, question_of
from grader.similar.material import Collected, Material

_WORD = re.compile(r"[^\W\d_]{2,}")  # a single letter is a symbol
_LONGEST = 2**17  # characters of one part


def prose_material(parts: Iterable[Answer]) -> Material:
    found = Collected()
    for answer in parts:
        lines = _lines(answer)
        found.begin(f"{answer.part} in {answer.file}", "\n".join(lines.values()), min(lines, default=1))
        for piece in answer.pieces:
            if piece.kind == "prose":
                for line, text in _numbered(piece.text[:_LONGEST], piece.line - min(lines) + 1):
                    words = _words(text)
                    found.add([f"{answer.part} {word}" for word in words], [line] * len(words))
    return found.done()


def questions_material(rubric: Rubric, templates: Iterable[str]) -> Material:
    """What the course wrote itself: questions and titles, in the part they belong to; a template, in every part."""
    found = Collected()
    given = list(templates)
    for problem in rubric.problems:
        asked = [problem.title, *(check.summary for check in problem.every_check)]
        asked += [question_of(check) for check in problem.every_check if definition_of(check.function)]
        for text in dict.fromkeys((*asked, *given)):
            found.wall()
            words = [f"{problem.id} {word}" for word in _words(text)]
            found.add(words, [0] * len(words))
    return found.done()


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _numbered(text: str, first: int) -> Iterator[tuple[int, str]]:
    yield from enumerate(text.split("\n"), start=first)


def _lines(answer: Answer) -> dict[int, str]:
    """The answer as it stands in its file, line by line, with no line left out."""
    held: dict[int, str] = {}
    for piece in answer.pieces:
        for line, text in _numbered(piece.text[:_LONGEST], piece.line):
            marked = f"${text}$" if piece.kind == "math" else text
            held[line] = f"{held[line]} {marked}" if line in held else marked
    return {line: held.get(line, "") for line in range(min(held), max(held) + 1)} if held else {}
