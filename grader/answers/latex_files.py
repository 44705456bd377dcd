"""A LaTeX file with what it takes in (`\\input`, `\\include`): one text that knows where each line stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from grader.answers.lines import Line

_TAKES_IN = re.compile(
    r"(?<!\\)(?P<comment>%.*)|\\(?:input|include|subfile|subfileinclude)\s*(?:\{\s*(?P<braced>[^{}\n]{1,200}?)\s*\}"
    r"|[ \t]+(?P<bare>[\w./-]{1,200}))|\\(?:sub)?import\s*\{(?P<folder>[^{}\n]{0,200})\}\s*\{(?P<name>[^{}\n]{1,200})\}"
)
_BEGIN, _END = "\\begin{document}", "\\end{document}"
_MAX_FILES = 40  # one for each part of an assignment, and some for macros
_MAX_DEPTH = 6


@dataclass
class WholeText:
    """Line n of the text (from 1) stands in `places[n - 1]`: a file, and the number of the line there."""

    text: str
    places: list[tuple[str, int]]
    files: list[str] = field(default_factory=list)  # that were taken in
    absent: list[tuple[str, int, str]] = field(default_factory=list)  # file, line and name of what was not handed in

    def placed(self, line: Line) -> Line:
        """A line of this text as a line of the file it stands in."""
        file, number = self._place(line.number)
        pieces = [replace(piece, line=self._place(piece.line)[1]) for piece in line.pieces]
        return replace(line, file="" if file == self.places[0][0] else file, number=number, pieces=pieces)

    def _place(self, number: int) -> tuple[str, int]:
        return self.places[min(max(number, 1), len(self.places)) - 1]


def whole_text(path: str, text: str, beside: Callable[[str], str | None]) -> WholeText:
    """The text with every file it takes in put in its place; `beside` gives the text of a file by its path."""
    whole = WholeText("", [])
    lines: list[str] = []
    _take_in(path, text, PurePosixPath(path).parent, beside, (path,), whole, lines)
    whole.text = "\n".join(lines)
    return whole


def names_taken_in(text: str) -> list[str]:
    return [name for found in _TAKES_IN.finditer(text) if (name := _name(found))]


def _take_in(
    path: str,
    text: str,
    root: PurePosixPath,
    beside: Callable[[str], str | None],
    above: tuple[str, ...],
    whole: WholeText,
    lines: list[str],
) -> None:
    body = 0 if len(above) > 1 else text.find(_BEGIN)
    at = 0
    for number, line in enumerate(text.split("\n"), start=1):
        begins = 0
        for found in _TAKES_IN.finditer(line):
            if not (name := _name(found)):
                continue
            other, content = _found(name, (root, PurePosixPath(path).parent), beside)
            if content is None:
                if at + found.start() > body and number > 1:
                    whole.absent.append((path, number, name))
                continue
            if other in above or len(above) > _MAX_DEPTH or len(whole.files) >= _MAX_FILES:
                continue
            whole.files.append(other)
            lines.append(line[begins : found.start()])
            whole.places.append((path, number))
            _take_in(other, _inner(content), root, beside, (*above, other), whole, lines)
            begins = found.end()
        lines.append(line[begins:])
        whole.places.append((path, number))
        at += len(line) + 1


def _name(found: re.Match[str]) -> str:
    if found["name"]:
        return f"{found['folder']}/{found['name']}"
    return (found["braced"] or found["bare"] or "").strip()


def _found(
    name: str, folders: tuple[PurePosixPath, ...], beside: Callable[[str], str | None]
) -> tuple[str, str | None]:
    """The path and the text of what a name means: from the main file's folder, or from where it is named."""
    for folder in dict.fromkeys(folders):
        for ending in ("", ".tex"):
            path = _normal((folder / f"{name}{ending}").as_posix())
            if path.lower().endswith(".tex") and (content := beside(path)) is not None:
                return path, content
    return name, None


def _normal(path: str) -> str:
    steps: list[str] = []
    for step in path.split("/"):
        if step == ".." and steps:
            steps.pop()
        elif step not in (".", "..", ""):
            steps.append(step)
    return "/".join(steps)


def _inner(text: str) -> str:
    """A file that can also be set alone brings a preamble of its own; lines keep their numbers."""
    begin = text.find(_BEGIN)
    if begin < 0:
        return text
    begin += len(_BEGIN)
    end = text.find(_END, begin)
    return "\n" * text.count("\n", 0, begin) + text[begin : end if end >= 0 else None]
