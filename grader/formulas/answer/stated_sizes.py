"""What an answer says in text: its words with letters set plainly, and sizes of matrices, `H = V A ∈ ℝ^{t×n}`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.model import Answer
from grader.notation.faces import without_faces
from grader.notation.letters import LETTERS

_MAX_CHARACTERS = 20_000  # as of a formula
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_BY = re.compile(r"\\times|×|(?<=[\w\s})])x(?=[\w\s({\\])|,")


def plain_text(answer: Answer) -> str:
    """All that was written, with plain letters: `\\mathbf{W}_\\beta` → ` {W}_β`."""
    text = "\n".join(piece.text for piece in answer.pieces)[:_MAX_CHARACTERS]
    return _COMMAND.sub(lambda found: LETTERS.get(found[1], found[0]), without_faces(text))


def sides_of(shape: str) -> list[str]:
    return [side.strip() for side in _BY.split(shape) if side.strip()]


def stated_sizes(text: str, name: str) -> Iterator[tuple[re.Match[str], str]]:
    """Where `name ∈ ℝ^{rows × columns}` is said, with the shape as it is written."""
    for found in re.finditer(
        rf"{name}\s*(?:\\in|∈|is|of size|:)\s*"
        r"(?:\\mathbb\s*\{?\s*R\s*\}?|ℝ|R)?\s*\^?\s*"
        r"(?P<shape>\{(?:[^{}]|\{[^{}]*\})*\}|\(?[\w/]+\s*(?:×|x|\\times)\s*[\w/]+\)?)",
        text,
    ):
        yield found, found["shape"].strip("{}()")


def stated_of(text: str, name: str) -> list[tuple[str, ...]]:
    """The sizes that are stated for one matrix, right behind its name or behind what it equals: `H = V A ∈ ℝ^{t×n}`.

    Its name begins the statement; A at the end of a product is no statement about A.
    """
    called = rf"(?:^|[,;.:($`\n]|\b(?:and|where|with|so|then))\s*{re.escape(name)}\s*(?:=[^,;.\n$∈]*?)?"
    return [tuple(sides_of(shape)) for _, shape in stated_sizes(text, called)]
