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
class GrowthClaim:
    """What is said about a letter: `growth` is large, small or nothing; `sign` + or −."""

    growth: str = ""
    sign: str = ""


def said_in_symbols(symbol: Symbol, left: Expression | None, relation: str, right: Expression | None) -> GrowthClaim:
    """β ≫ 0, 0 ≪ β, β > 0, β → ∞, β ≪ 1, β < 0."""
    if right == symbol and left is not None and relation != "→":
        left, right, relation = right, left, _TURNED[relation]
    if isinstance(right, PseudoInverse):  # τ → 0⁺
        right = right.of
    if left != symbol or right is None:
        return GrowthClaim()
    value = right.value if isinstance(right, Number) else None
    negative = (value is not None and value < 0) or _is_minus_infinity(right)
    if relation in ("≈", "∼"):
        return GrowthClaim() if value is None else GrowthClaim("large" if value >= _LARGE else "small")
    if relation == "→":
        if value is not None:
            return GrowthClaim("small" if value == 0 else "")
        return GrowthClaim("large", "−" if negative else "+")
    if relation in ("≫", ">", "≥"):
        large = relation == "≫" or value is None or value >= _LARGE
        return GrowthClaim("large" if large and not negative else "", "" if negative else "+")
    if value == 0 or negative:
        return GrowthClaim("large" if relation == "≪" else "", "−")
    return GrowthClaim("small" if value is not None and value <= 1 else "")


def said_by_interval(symbol: Symbol, left: Sequence[Token], right: Sequence[Token]) -> GrowthClaim:
    """β ∈ (0, 1)."""
    ends = [token.value for token in right if token.kind == "NUMBER"]
    about = len(left) == 1 and left[0].value == symbol
    return GrowthClaim("small") if about and len(ends) == 2 and ends[1] <= 1 else GrowthClaim()


def _is_minus_infinity(expression: Expression) -> bool:
    return isinstance(expression, Multiply) and expression.right == Constant("∞")


def said_in_words(symbol: Symbol, tokens: Sequence[Token]) -> GrowthClaim:
    """'a very large constant C', 'β is sufficiently large', 't tends to infinity'."""
    if symbol.name in SCALE_WORDS:  # the scale itself was written as a word
        large = symbol.name in LARGE_WORDS
        return GrowthClaim("large" if large else "small" if symbol.name in SMALL_WORDS else "")
    for at, token in enumerate(tokens):
        if token.kind == "NAME" and token.value == symbol:
            after, before = tokens[at + 1 : at + 1 + _WORDS_AFTER], tokens[max(0, at - _WORDS_BEFORE) : at]
            for nearby in (after, before[::-1]):
                claim = _said_by(nearby)
                if claim != GrowthClaim():
                    return claim
    return GrowthClaim()


def _said_by(nearby: Sequence[Token]) -> GrowthClaim:
    """What the words next to a letter say, as long as they can be about it."""
    denied = False  # β is not large
    joined = False  # whether the word before was an "and": β and γ are large
    for distance, near in enumerate(nearby):
        word = str(near.value).lower()
        if near.kind == "CONSTANT" and word == "∞" and distance:
            return GrowthClaim("large", "+")
        if near.kind == "NAME" and word != "a":
            if not joined:
                return GrowthClaim()
        elif near.kind == "WORD":
            if word == "negative":
                return GrowthClaim("", "−")
            if word in LARGE_WORDS - _ADVERBS:
                return GrowthClaim("small") if denied else GrowthClaim("large", "+")
            if word in SMALL_WORDS:
                return GrowthClaim("small")
            denied = denied or word == "not"
            if word not in LINKING_WORDS and word != "not":
                return GrowthClaim()
        elif near.kind not in ("BREAK", "RELATION", "NUMBER") or near.value in (".", "=", "≈"):
            return GrowthClaim()
        joined = word in ("and", ",", "")
    return GrowthClaim()
