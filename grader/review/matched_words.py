"""Where in an answer the words stand that the grader matched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SHORTEST = 2  # a lone letter stands everywhere


@dataclass(frozen=True)
class Mark:
    piece: int
    start: int
    end: int
    what: str


def marks_in(pieces: Sequence[Mapping[str, Any]], checks: Sequence[Mapping[str, Any]]) -> tuple[Mark, ...]:
    """Of what was found and what looks wrong; where the words stand otherwise than they were quoted, nothing."""
    found = []
    for check in checks:
        evidence = check["evidence"]
        for name in ("found", "wrong_claims"):
            said = evidence.get(name)
            if isinstance(said, dict):
                for what, words in said.items():
                    found += list(_places(pieces, str(what), str(words)))
    return tuple(sorted(set(found), key=lambda mark: (mark.piece, mark.start, mark.end, mark.what)))


def _places(pieces: Sequence[Mapping[str, Any]], what: str, words: str) -> Iterator[Mark]:
    for run in words.split("…"):
        tokens = run.split()
        if len("".join(tokens)) < _SHORTEST:
            continue
        pattern = re.compile(r"\W{0,12}?".join(map(re.escape, tokens)), re.IGNORECASE)
        for number, piece in enumerate(pieces):
            if match := pattern.search(piece.get("text", "")):
                yield Mark(number, *match.span(), what)
                break
