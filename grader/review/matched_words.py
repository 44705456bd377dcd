"""Where in an answer the words stand that the grader matched: it quotes them in its notation, students have theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.notation.letters import FRACTIONS, LETTERS, SAME_LETTER, SUBSCRIPTS
from grader.notation.operators import RELATIONS, TRANSPOSES

_GAP = 6  # signs that may stand between two that were quoted: what is below and above a sum
_MOST_SIGNS = 40  # of a quotation: a line has fewer
_SHORTEST = 2  # characters: a lone letter stands everywhere
# A command, a word (with its hyphens), or one sign. Letters below k_a are signs of their own.
_SIGN = re.compile(r"\\[A-Za-z]+|[^\W\d_ᵀ]+(?:-[^\W\d_ᵀ]+)*|\S")
_COMMANDS = {**LETTERS, **RELATIONS, "sum": "Σ", "infty": "∞", "inf": "∞", "exp": "exp"}
_SIGNS = {**SAME_LETTER, **SUBSCRIPTS, "∑": "Σ", **{sign: one for sign, one in RELATIONS.items() if not sign.isalpha()}}
_SAYS_NOTHING = frozenset("$`*_^{}()[]/\\&,;:.!|'\"“”") | TRANSPOSES

_Found = tuple[str, int, int]  # what a sign means, and where it stands


@dataclass(frozen=True)
class Mark:
    piece: int
    start: int
    end: int
    what: str


def marks_in(pieces: Sequence[Mapping[str, Any]], checks: Sequence[Mapping[str, Any]]) -> tuple[Mark, ...]:
    """Of what was found and what looks wrong; where the words cannot be found again, nothing."""
    quoted = [(str(what), str(words)) for check in checks for what, words in _quoted(check["evidence"])]
    if not quoted:
        return ()
    signs = [list(_signs(piece.get("text", ""))) for piece in pieces]
    found = {mark for what, words in quoted for mark in _places(signs, what, words)}
    return tuple(sorted(found, key=lambda mark: (mark.piece, mark.start, mark.end, mark.what)))


def _quoted(evidence: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for name in ("found", "wrong_claims"):
        if isinstance(said := evidence.get(name), dict):
            yield from said.items()


def _places(pieces: Sequence[Sequence[_Found]], what: str, words: str) -> Iterator[Mark]:
    for run in words.split("…"):  # what was left out between two passages
        wanted = [sign for sign, _, _ in _signs(run)][:_MOST_SIGNS]
        if len("".join(wanted)) < _SHORTEST:
            continue
        matches = [(*span, number) for number, signs in enumerate(pieces) for span in _spans(signs, wanted)]
        if matches:
            start, end, number = min(matches, key=lambda match: (match[1] - match[0], match[2], match[0]))
            yield Mark(number, start, end, what)


def _spans(signs: Sequence[_Found], wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Each place where the signs stand in this order, with little between them."""
    for first, (sign, start, _) in enumerate(signs):
        if sign != wanted[0]:
            continue
        place = first
        for one in wanted[1:]:
            near = range(place + 1, min(place + 2 + _GAP, len(signs)))
            place = next((next_ for next_ in near if signs[next_][0] == one), -1)
            if place < 0:
                break
        else:
            yield start, signs[place][2]


def _signs(text: str) -> Iterator[_Found]:
    for match in _SIGN.finditer(text):
        sign, (start, end) = match[0], match.span()
        if sign.startswith("\\"):
            meant = [_COMMANDS[sign[1:]]] if sign[1:] in _COMMANDS else []
        elif sign in _SAYS_NOTHING:
            meant = []
        elif sign in FRACTIONS:
            meant = [str(number) for number in FRACTIONS[sign]]
        else:
            meant = _below(_SIGNS.get(sign, sign.replace("-", "") or sign))
        yield from ((one.casefold(), start, end) for one in meant)


def _below(word: str) -> list[str]:
    """A word; of `kₐ`, the letter and the one below it."""
    letters = [number for number, letter in enumerate(word) if number and letter in SUBSCRIPTS]
    return [word[: letters[0]], SUBSCRIPTS[word[letters[0]]]] if letters else [word]
