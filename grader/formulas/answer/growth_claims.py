"""What an answer says about a letter's size, in symbols (β ≫ 0) or in words ('a very large constant C')."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.formulas.lexing.tokens import Token
from grader.formulas.syntax.expressions import Constant, Expression, Multiply, Number, PseudoInverse, Symbol
from grader.notation.size_words import LARGE_WORDS, LINKING_WORDS, SCALE_WORDS, SMALL_WORDS

COMPARED = ("≫", "≪", ">", "<", "≥", "≤", "→")
SIZING = (*COMPARED, "≈", "∼")  # β ≈ 1 says that β is not large
_TURNED = {"≈": "≈", "∼": "∼", "≫": "≪", "≪": "≫", ">": "<", "<": ">", "≥": "≤", "≤": "≥"}
_LARGE = 5  # β > 5 says that β is large; β > 0 says only its sign
_WORDS_AFTER, _WORDS_BEFORE = 9, 4  # how far from a letter words can still be about it

_ADVERBS = frozenset(("sufficiently", "arbitrarily", "extremely"))  # before "large" or "small", which decides


@dataclass(frozen=True)
class Size:
    """What is said about a letter: `growth` is large, small or nothing; `sign` + or −."""

    growth: str = ""
    sign: str = ""


def said_in_symbols(symbol: Symbol, left: Expression | None, relation: str, right: Expression | None) -> Size:
    """β ≫ 0, 0 ≪ β, β > 0, β → ∞, β ≪ 1, β < 0."""
    if right == symbol and left is not None and relation != "→":
        left, right, relation = right, left, _TURNED[relation]
    if isinstance(right, PseudoInverse):  # τ → 0⁺
        right = right.of
    if left != symbol or right is None:
        return Size()
    value = right.value if isinstance(right, Number) else None
    negative = (value is not None and value < 0) or _is_minus_infinity(right)
    if relation in ("≈", "∼"):
        return Size() if value is None else Size("large" if value >= _LARGE else "small")
    if relation == "→":
        if value is not None:
            return Size("small" if value == 0 else "")
        return Size("large", "−" if negative else "+")
    if relation in ("≫", ">", "≥"):
        large = relation == "≫" or value is None or value >= _LARGE
        return Size("large" if large and not negative else "", "" if negative else "+")
    if value == 0 or negative:
        return Size("large" if relation == "≪" else "", "−")
    return Size("small" if value is not None and value <= 1 else "")


def said_by_interval(symbol: Symbol, left: Sequence[Token], right: Sequence[Token]) -> Size:
    """β ∈ (0, 1)."""
    ends = [token.value for token in right if token.kind == "NUMBER"]
    about = len(left) == 1 and left[0].value == symbol
    return Size("small") if about and len(ends) == 2 and ends[1] <= 1 else Size()


def _is_minus_infinity(expression: Expression) -> bool:
    return isinstance(expression, Multiply) and expression.right == Constant("∞")


def said_in_words(symbol: Symbol, tokens: Sequence[Token]) -> Size:
    """'a very large constant C', 'β is sufficiently large', 't tends to infinity'."""
    if symbol.name in SCALE_WORDS:  # the scale itself was written as a word
        large = symbol.name in LARGE_WORDS
        return Size("large" if large else "small" if symbol.name in SMALL_WORDS else "")
    for at, token in enumerate(tokens):
        if token.kind == "NAME" and token.value == symbol:
            after, before = tokens[at + 1 : at + 1 + _WORDS_AFTER], tokens[max(0, at - _WORDS_BEFORE) : at]
            for nearby in (after, before[::-1]):
                size = _said_by(nearby)
                if size != Size():
                    return size
    return Size()


def _said_by(nearby: Sequence[Token]) -> Size:
    """What the words next to a letter say, as long as they can be about it."""
    denied = False  # β is not large
    joined = False  # whether the word before was an "and": β and γ are large
    for distance, near in enumerate(nearby):
        word = str(near.value).lower()
        if near.kind == "CONSTANT" and word == "∞" and distance:
            return Size("large", "+")
        if near.kind == "NAME" and word != "a":
            if not joined:
                return Size()
        elif near.kind == "WORD":
            if word == "negative":
                return Size("", "−")
            if word in LARGE_WORDS - _ADVERBS:
                return Size("small") if denied else Size("large", "+")
            if word in SMALL_WORDS:
                return Size("small")
            denied = denied or word == "not"
            if word not in LINKING_WORDS and word != "not":
                return Size()
        elif near.kind not in ("BREAK", "RELATION", "NUMBER") or near.value in (".", "=", "≈"):
            return Size()
        joined = word in ("and", ",", "")
    return Size()
