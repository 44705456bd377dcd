"""Questions pasted above their answers: taken out, so that nobody earns points with the handout's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.answers.lines import Line
from grader.model import Piece

_SOLUTION = re.compile(r"\s*(?:solution|answer|ans|sol)\b\s*(?:[.:)–—-]+\s*|$)", re.IGNORECASE)
_POINTS = re.compile(
    r"\s*(?:\(?\w{1,4}[.)]\s+)?[(\[]\s*\d+(?:\.\d+)?\s*(?:points?|pts?|marks?)\.?\s*[)\]]\s*[.:]?\s*", re.IGNORECASE
)
_ASKING = (
    "explain|describe|find|design|construct|show|prove|provide|give|what|how|why|state|derive|justify|succinctly|"
    "let us|we'll"
)
_ASKS = re.compile(rf"\b(?:{_ASKING}|you|your)\b", re.IGNORECASE)
_BEGINS_BY_ASKING = re.compile(rf"\W*(?:{_ASKING})\b", re.IGNORECASE)
_QUESTION_WORDS = 8  # fewer, after "(2 points)", are more likely an answer


def without_the_question(lines: Sequence[Line], has_parts: bool) -> tuple[tuple[Piece, ...], int]:
    """The pieces of an answer, and the line of a question that was left out (0 if none was).

    Where a question has parts, points stand before what is common to them, which asks nothing yet.
    """
    blocks: list[list[Line]] = []
    for line in lines:
        if line.opens_block or not blocks:
            blocks.append([])
        blocks[-1].append(line)
    kept: list[list[Piece]] = []
    asked = 0
    for block in blocks:
        pieces = _joined(block)
        if block[0].opens_solution and kept:
            asked, kept = asked or kept[0][0].line, []
        if pieces and pieces[0].kind == "prose":
            first = pieces[0]
            label = _SOLUTION.match(first.text)
            if label and kept and _asks(kept):
                asked, kept = asked or kept[0][0].line, []
            points = _POINTS.match(first.text)
            if points and (has_parts or _is_pasted(pieces)):
                asked = asked or first.line
                continue
            begin = (label or points).end() if label or points else 0  # type: ignore[union-attr]
            rest = first.text[begin:]
            skipped = first.text[:begin].count("\n")
            pieces[:1] = [Piece("prose", rest, first.line + skipped)] if rest.strip() else []
        if pieces:
            kept.append(pieces)
    return tuple(piece for pieces in kept for piece in pieces), asked


def _joined(block: list[Line]) -> list[Piece]:
    """Words on lines that follow each other are one piece: a sentence does not end where a line does."""
    pieces: list[Piece] = []
    for line in block:
        begins = True
        for piece in line.pieces:
            if begins and piece.kind == "prose" and pieces and pieces[-1].kind == "prose":
                pieces[-1] = Piece("prose", f"{pieces[-1].text}\n{piece.text}", pieces[-1].line)
            else:
                pieces.append(piece)
            begins = False
    return [piece for piece in pieces if piece.text.strip()]


def _asks(kept: list[list[Piece]]) -> bool:
    """One paragraph that tells somebody to do something, or ends in a question mark."""
    if len(kept) != 1:
        return False
    text = " ".join(piece.text for piece in kept[0]).strip()
    return (
        bool(_BEGINS_BY_ASKING.match(text)) or text.endswith("?") or bool(re.search(r"\byour?\b", text, re.IGNORECASE))
    )


def _is_pasted(pieces: list[Piece]) -> bool:
    text = " ".join(piece.text for piece in pieces)
    return len(text.split()) > _QUESTION_WORDS and (bool(_ASKS.search(text)) or "?" in text)
