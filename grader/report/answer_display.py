"""An answer as a page shows it: the words with their formulas set and what was found marked, code with its lines, pages
of a PDF by where they lie."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from markupsafe import Markup

from grader.quoting import visible
from grader.report.typesetting import Span, typeset

# As messages name them: `attention.py:12`, `line 12`, `lines 107, 135, 155`.
_LINES_NAMED = re.compile(r"(?:\blines? |\.py:|\.ipynb cell \d{1,5} line )(\d{1,6}(?:, \d{1,6}){0,20})")
_OTHER_FILE = re.compile(r"\.(?:predictions|tsv|csv|md|tex|txt|pdf|yaml)\b")  # whose lines are none of the code's
# A hand-in that could not be opened goes by its own name, which is the student's more often than not.
_HAND_IN_NAMED = re.compile(r"\A[^:]{1,300}(\.(?:zip|tar|tgz|ipynb|tar\.[a-z0-9]{1,4})): ", re.IGNORECASE)
_Entry = Mapping[str, Any]  # of a JSON report
_NOTHING = Markup("")
_MOST_PAGES = 6  # of one answer
# A page for a student stays small, whatever was handed in. A whole sample has some 12,000 characters in 400 lines.
_PAGE_CHARACTERS, _PAGE_LINES = 120_000, 3_000
_PIECE_CHARACTERS, _PIECE_LINES = 20_000, 400


class CodeLine(NamedTuple):  # a page has hundreds
    number: int
    text: str
    named: bool  # by what a check said


@dataclass(frozen=True)
class PagePicture:
    page: int
    number: int  # of the piece


@dataclass(frozen=True)
class ShownPiece:
    kind: str  # answer | code | file
    heading: str
    written: Markup = _NOTHING
    source: Markup = _NOTHING
    lines: tuple[CodeLine, ...] = ()
    pictures: tuple[PagePicture, ...] = ()
    notes: tuple[str, ...] = ()


class Space:
    """What of a student's own work a page still has space for."""

    def __init__(self) -> None:
        self._characters, self._lines = _PAGE_CHARACTERS, _PAGE_LINES

    def fitted(self, piece: _Entry) -> dict[str, Any]:
        """The piece, cut where the space ends; what is cut off is counted."""
        whole = piece.get("text", "")
        lines = whole[: min(self._characters, _PIECE_CHARACTERS)].split("\n")[: min(self._lines, _PIECE_LINES)]
        text = "\n".join(lines)
        self._characters -= len(text)
        self._lines -= len(lines)
        cut = len(whole) - len(text) + piece.get("left_out", 0)
        return {**piece, "text": text, **({"left_out": cut} if cut else {})}


def own_work(problem: _Entry, space: Space) -> list[ShownPiece]:
    """What a student handed in for a part, for a page that stands alone: it has no pictures of PDF pages."""
    pieces = [space.fitted(piece) for piece in problem.get("judged", {}).get("pieces", ())]
    return [replace(one, pictures=()) for one in shown_pieces(pieces, {}, problem["checks"], names=True)]


def shown_pieces(
    pieces: Sequence[Mapping[str, Any]],
    marks: Mapping[int, Sequence[Span]],
    checks: Sequence[Mapping[str, Any]],
    *,
    names: bool,
) -> list[ShownPiece]:
    """`marks` by the number of the piece. Names of files are a student's choice and may tell whose they are."""
    said = lines_named(checks)
    return [_shown(number, piece, marks.get(number, ()), said, names) for number, piece in enumerate(pieces)]


def _shown(
    number: int, piece: Mapping[str, Any], marks: Sequence[Span], named: frozenset[int], names: bool
) -> ShownPiece:
    notes = []
    if piece.get("left_out"):
        notes.append(f"{piece['left_out']} more characters are left out here")
    heading, text = _heading(piece, names), piece.get("text", "")
    match piece["kind"]:
        case "code":
            first = piece.get("line", 1)
            shown = visible(text).split("\n")
            lines = tuple(CodeLine(first + row, line, first + row in named) for row, line in enumerate(shown))
            return ShownPiece("code", heading, lines=lines, notes=tuple(notes))
        case "answer":
            if piece.get("doubt"):
                notes.append(f"it may have been read wrongly: {piece['doubt']}")
            pictures = tuple(PagePicture(page, number) for page in pages_of(piece)[:_MOST_PAGES])
            source = Markup("{}").format(visible(text)) if "$" in text or "`" in text else Markup("")
            return ShownPiece("answer", heading, typeset(text, marks), source, (), pictures, tuple(notes))
    if piece.get("lines"):
        notes.append(f"{piece['lines']} lines")
    return ShownPiece("file", heading, notes=tuple(notes))


def _heading(piece: _Entry, names: bool) -> str:
    path = PurePosixPath(piece.get("file", ""))
    file = (
        str(path)
        if names
        else path.name
        if piece["kind"] == "code"
        else f"the {path.suffix or 'file'} that was handed in"
    )
    if piece.get("name"):
        file = f"{piece['name']} in {file}"
    if piece.get("page"):
        return f"{file}, page {piece['page']}"
    return f"{file}, line {piece['line']}" if piece.get("line") else file


def without_names(checks: Sequence[_Entry], pieces: Sequence[_Entry]) -> list[dict[str, Any]]:
    """What checks said, with the names that a student gave to a hand-in or a sheet of answers left out."""
    sheets = {piece["file"] for piece in pieces if piece["kind"] == "answer" and piece.get("file")}
    names = sheets | {PurePosixPath(sheet).name for sheet in sheets}
    longest_first = sorted(names, key=len, reverse=True)
    return [
        {
            **check,
            "message": _without(check["message"], longest_first),
            "evidence": {key: value for key, value in check.get("evidence", {}).items() if value not in longest_first},
        }
        for check in checks
    ]


def _without(message: str, names: Sequence[str]) -> str:
    message = _HAND_IN_NAMED.sub(r"the \1 that was handed in: ", message)
    for name in names:
        message = message.replace(name, f"the {PurePosixPath(name).suffix or 'file'}")
    return message


def lines_named(checks: Iterable[_Entry]) -> frozenset[int]:
    """Lines of code that messages of checks that did not pass point at."""
    found: set[int] = set()
    for check in checks:
        if check["status"] != "passed" and not _OTHER_FILE.search(check["message"]):
            for numbers in _LINES_NAMED.findall(check["message"]):
                found |= {int(one) for one in numbers.split(", ")}
    return frozenset(found)


def pages_of(piece: _Entry) -> list[int]:
    """Pages of a PDF that an answer stands on, in their order."""
    places = piece.get("places") or ([piece] if piece.get("page") else [])
    return list(dict.fromkeys(place["page"] for place in places))


def boxes_on(piece: _Entry, page: int) -> list[list[float]]:
    return [place["box"] for place in piece.get("places", ()) if place["page"] == page and place.get("box")]
