"""Where in an answer the words stand that the grader matched: it quotes them in its notation, students have theirs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.notation.letters import FRACTIONS, LETTERS, SAME_LETTER, SUBSCRIPTS
from grader.notation.operators import RELATIONS, TRANSPOSES

_GAP = 6  # signs that may stand between two that were quoted: what is below and above a sum
_MOST_SIGNS = 40  # of a quotation: a line has fewer
_MOST_STARTS = 100  # places where a quotation may begin in one piece: an answer that has more is no answer
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


class _Piece:
    """The signs of one piece, by what they mean."""

    def __init__(self, text: str) -> None:
        self.signs = list(_signs(text))
        self._places: dict[str, list[int]] = {}
        for place, (sign, _, _) in enumerate(self.signs):
            self._places.setdefault(sign, []).append(place)

    def spans(self, wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Where the signs stand in this order with little between them; one without gaps ends the search."""
        for first in self._places.get(wanted[0], ())[:_MOST_STARTS]:
            last = self._followed(first, wanted[1:])
            if last is not None:
                yield self.signs[first][1], self.signs[last][2]
                if last - first < len(wanted):
                    return

    def _followed(self, place: int, wanted: Sequence[str]) -> int | None:
        for one in wanted:
            places = self._places.get(one, ())
            at = bisect_right(places, place)
            if at == len(places) or places[at] > place + 1 + _GAP:
                return None
            place = places[at]
        return place


def marks_in(pieces: Sequence[Mapping[str, Any]], checks: Sequence[Mapping[str, Any]]) -> tuple[Mark, ...]:
    """Of what was found and what looks wrong; where the words cannot be found again, nothing."""
    quoted = [(str(what), str(words)) for check in checks for what, words in _quoted(check["evidence"])]
    if not quoted:
        return ()
    read = [_Piece(piece.get("text", "")) for piece in pieces]
    found = {mark for what, words in quoted for mark in _marks(read, what, words)}
    return tuple(sorted(found, key=lambda mark: (mark.piece, mark.start, mark.end, mark.what)))


def _quoted(evidence: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for name in ("found", "wrong_claims"):
        if isinstance(said := evidence.get(name), dict):
            yield from said.items()


def _marks(pieces: Sequence[_Piece], what: str, words: str) -> Iterator[Mark]:
    """The closest match of each passage."""
    for run in words.split("…"):  # what was left out between two passages
        wanted = [sign for sign, _, _ in _signs(run)][:_MOST_SIGNS]
        if len("".join(wanted)) < _SHORTEST:
            continue
        matches = [
            (end - start, number, start) for number, piece in enumerate(pieces) for start, end in piece.spans(wanted)
        ]
        if matches:
            length, number, start = min(matches)
            yield Mark(number, start, start + length, what)


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
