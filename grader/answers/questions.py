"""Questions pasted above their answers: taken out, so that nobody earns points with the handout's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grader.answers.lines import Line
from grader.model import Piece

_SOLUTION = re.compile(r"\s*(?:solution|answer|ans|sol)\b\s*(?:[.:)–—-]+\s*|$)", re.IGNORECASE)
_POINTS = re.compile(
    r"\s*(?:\(?\w{1,4}[.)]\s+)?[(\[]\s*\d+(?:\.\d+)?\s*(?:points?|pts?|marks?)\.?\s*[)\]]\s*[.:]?\s*", re.IGNORECASE
)
# Handouts command; students who write "we show that …" do not.
_COMMAND = re.compile(
    r"(?:^|[.;:?]\s+)\W*(?:Explain|Describe|Find|Design|Construct|Show|Prove|Provide|Derive|Justify|State|Give|Succinctly|"
    r"Concisely)\b|,\s+(?:describe|explain|design|construct)\b"
)
_TO_A_READER = re.compile(r"\b(?:you|your|we'll)\b", re.IGNORECASE)
_QUESTION_WORDS = 8  # fewer, after "(2 points)", are more likely an answer


def without_the_question(lines: Sequence[Line], has_parts: bool) -> tuple[tuple[Piece, ...], Line | None]:
    """The pieces of an answer, and the first line of a question that was left out, if one was.

    Where a question has parts, points stand before what is common to them, which asks nothing yet.
    """
    blocks: list[list[Line]] = []
    for line in lines:
        if line.opens_block or not blocks:
            blocks.append([])
        blocks[-1].append(line)
    kept: list[list[Piece]] = []
    asked: Line | None = None
    begins = lines[0] if lines else None  # of what is kept
    for block in blocks:
        first = block[0].pieces[0] if block[0].pieces else Piece("prose", "", block[0].number)
        label, points = (rule.match(first.text) if first.kind == "prose" else None for rule in (_SOLUTION, _POINTS))
        if kept and (block[0].opens_solution or (label and _asks(kept))):
            asked, kept, begins = asked or begins, [], block[0]
        if points and (has_parts or _is_pasted(_joined(block), points.end())):
            asked = asked or block[0]
            continue
        mark = label or points
        if mark:
            block[0] = replace(block[0], pieces=[replace(first, text=first.text[mark.end() :]), *block[0].pieces[1:]])
        if pieces := _joined(block):
            kept.append(pieces)
    return tuple(piece for pieces in kept for piece in pieces), asked


def _joined(block: list[Line]) -> list[Piece]:
    """Words on lines that follow each other are one piece: a sentence does not end where a line does."""
    pieces: list[Piece] = []
    for line in block:
        begins = True
        for piece in (piece for piece in line.pieces if piece.text.strip()):
            if begins and piece.kind == "prose" and pieces and pieces[-1].kind == "prose":
                pieces[-1] = Piece("prose", f"{pieces[-1].text}\n{piece.text}", pieces[-1].line)
            else:
                pieces.append(piece)
            begins = False
    return pieces


def _asks(kept: list[list[Piece]]) -> bool:
    """One paragraph that tells somebody to do something, or ends in a question mark."""
    if len(kept) != 1:
        return False
    text = " ".join(piece.text for piece in kept[0]).strip()
    return bool(_COMMAND.search(text)) or text.endswith("?")


def _is_pasted(pieces: list[Piece], begin: int) -> bool:
    text = " ".join([pieces[0].text[begin:], *(piece.text for piece in pieces[1:])]).strip()
    asks = _COMMAND.search(text) or _TO_A_READER.search(text) or text.endswith("?")
    return bool(asks) and len(text.split()) > _QUESTION_WORDS
