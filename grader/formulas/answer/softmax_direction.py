"""Over what a softmax goes, as the words beside a formula say: "over each row", "column-wise", "each row sums to 1"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from grader.formulas.syntax.expressions import Apply, Expression, rebuilt
from grader.model import Piece

Direction = Literal["row", "column"]
AXES: dict[Direction, int] = {"column": 0, "row": 1}

# Only what can be read in one way: "over the rows" may go along a row or across them.
_SAID = re.compile(
    r"(?P<wise>row|column)[- ]?wise"
    r"|(?:over|along|to|on|of|in|within|for)\s+(?:each|every)\s+(?P<each>row|column)\b"
    r"|(?:each|every)\s+(?P<sums>row|column)\s+(?:of\s+\S+\s+)?(?:then\s+)?(?:sums?|adds?|is\s+normali[sz]ed)"
    r"|(?:the|its|all)\s+(?P<all>row|column)s\s+(?:of\s+\S+\s+)?(?:then\s+)?(?:sum|add)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"soft(?:arg)?max|normali[sz]|weights?|attention|sums?\b|adds?\b|appl|taken", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|instead\s+of|rather\s+than|unlike)\b", re.IGNORECASE)


def direction_said(pieces: Sequence[Piece]) -> Direction | None:
    """The direction, if the answer's words name one, and only one."""
    prose = " ".join(piece.text if piece.kind == "prose" else "·" for piece in pieces)
    found: set[str] = set()
    for sentence in re.split(r"(?<=[.;!?])\s+|\n\s*\n", prose):
        if not _SUBJECT.search(sentence) or _DENIED.search(sentence):
            continue
        for said in _SAID.finditer(sentence):
            found.add(next(group for group in said.groups() if group).lower())
    if len(found) != 1:
        return None
    return "row" if found == {"row"} else "column"


def directed(expression: Expression, direction: Direction) -> Expression:
    """With every softmax that has no direction of its own going that way."""

    def put(part: Expression) -> Expression:
        if isinstance(part, Apply) and part.function == "softmax" and part.axis is None:
            return Apply(part.function, part.arguments, part.below, AXES[direction])
        return part

    return rebuilt(expression, put)
