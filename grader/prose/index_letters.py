"""The letter that a student takes for an index: k_i ≫ k_j for all j ≠ i says of i what the question says of j."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.model import Piece
from grader.prose.word_tokens import Token

_BOUND = re.compile(r"(?:\\sum|[Σ∑]|\bsum)(?:\\limits)?\s?_\s?\{?\s?([a-z])")  # of the sum, it singles nothing out
_INDEXED = re.compile(r"[kvqhaα]_([a-z*])")
_LETTER = re.compile(r"[a-z]")


def letters_for(index: str, pieces: tuple[Piece, ...], tokens: Sequence[Token]) -> dict[str, str]:
    """Which subscripts stand for the question's own: `index` has the one that it singles out, and the others'."""
    chosen, others = index[0], index[1]
    used = [found[1] for token in tokens if (found := _INDEXED.fullmatch(token.form))]
    for other, sign, one in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if sign.form == "≠" and _LETTER.fullmatch(other.form) and _LETTER.fullmatch(one.form):
            return _exchanged({one.form: chosen, other.form: others}) if one.form in used else {}
    bound = {letter for piece in pieces for letter in _BOUND.findall(piece.text)}
    free = {letter for letter in used if letter not in bound}
    if chosen not in free and len(free) == 1:
        (one_letter,) = free
        return _exchanged({one_letter: chosen, **dict.fromkeys(bound, others)})
    return {}


def _exchanged(letters: dict[str, str]) -> dict[str, str]:
    """A letter of the question's that was taken for nothing must not be taken for what another now stands for."""
    return dict.fromkeys(letters.values(), "?") | letters if any(a != b for a, b in letters.items()) else {}


def renamed(token: Token, letters: Mapping[str, str]) -> Token:
    base, _, subscript = token.form.partition("_")
    if subscript in letters:
        return token._replace(form=f"{base}_{letters[subscript]}")
    return token._replace(form=letters[token.form]) if token.raw in letters else token
