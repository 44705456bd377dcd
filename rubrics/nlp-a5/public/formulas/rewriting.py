"""Rewriting with AᵀA = I, BᵀB = I and AᵀB = 0: a matrix as a sum of words in A, Aᵀ, B and Bᵀ."""

from __future__ import annotations

from fractions import Fraction

from grader.formulas import (
    Add,
    Divide,
    Expression,
    Identity,
    Multiply,
    Number,
    Power,
    PseudoInverse,
    Sum,
    Symbol,
    Transpose,
)

Word = tuple[str, ...]  # letters A, A', B, B'
Words = dict[Word, Fraction]
_GIVES_IDENTITY = {("A'", "A"): True, ("B'", "B"): True, ("A'", "B"): False, ("B'", "A"): False}  # else zero
_MAX_WORDS = 200  # beyond this a proof is not worth its time: sampling decides anyway
_MAX_POWER = 8  # of a matrix
_MAX_NUMBER_POWER = 100  # of a number; beyond, sampling alone decides


def normal_form(expression: Expression) -> Words | None:
    """A sum of words in A, Aᵀ, B, Bᵀ that no rule shortens; None if the expression is not of that kind."""
    try:
        return _words(expression)
    except _NotWords:
        return None


class _NotWords(Exception):
    """Some part is no sum of words."""


def _words(expression: Expression) -> Words:
    match expression:
        case Symbol("A" | "B", (), ""):
            return {(expression.name,): Fraction(1)}
        case Identity():
            return {(): Fraction(1)}
        case Number(value):
            return {(): value}
        case Add(terms):
            total: Words = {}
            for term in terms:
                for word, factor in _words(term).items():
                    total[word] = total.get(word, Fraction(0)) + factor
            return _nonzero(total)
        case Multiply(left, right):
            return _times(_words(left), _words(right))
        case Divide(over, under):
            below = _words(under)
            if set(below) == {()} and below[()]:  # 10⁹ is a number, too
                return {word: factor / below[()] for word, factor in _words(over).items()}
        case Transpose(of):
            return {tuple(_turned(letter) for letter in reversed(word)): factor for word, factor in _words(of).items()}
        case Power(Number(base), Number(value)) if base and value.denominator == 1 and abs(value) <= _MAX_NUMBER_POWER:
            return {(): base ** int(value)}
        case Power(base, Number(value)) if value == -1:
            inner = _words(base)
            if set(inner) == {()} and inner[()]:
                return {(): 1 / inner[()]}
        case Power(base, Number(value)) if value.denominator == 1 and 1 <= value <= _MAX_POWER:
            inner = _words(base)
            product: Words = {(): Fraction(1)}
            for _ in range(int(value)):
                product = _times(product, inner)
            return product
        case PseudoInverse(of):
            inner = _words(of)
            if len(inner) == 1 and len(next(iter(inner))) == 1:  # orthonormal columns: A⁺ = Aᵀ
                ((word, factor),) = inner.items()
                return {(_turned(word[0]),): 1 / factor}
        case Sum(domain, Multiply(Symbol(one, (i,)), Transpose(Symbol(other, (j,))))) if one == other and i == j:
            whole = domain.low in ("", "1") and not domain.without and not domain.only and domain.index == i
            if whole and one in ("a", "b"):
                return {(one.upper(), f"{one.upper()}'"): Fraction(1)}
    raise _NotWords


def _turned(letter: str) -> str:
    return letter.removesuffix("'") if letter.endswith("'") else f"{letter}'"


def _times(left: Words, right: Words) -> Words:
    total: Words = {}
    for one, factor in left.items():
        for other, times in right.items():
            word = _shortened((*one, *other))
            if word is not None:
                total[word] = total.get(word, Fraction(0)) + factor * times
            if len(total) > _MAX_WORDS:
                raise _NotWords
    return _nonzero(total)


def _shortened(word: Word) -> Word | None:
    """The word after every rule that applies; None is zero."""
    kept: list[str] = []
    for letter in word:
        identity = _GIVES_IDENTITY.get((kept[-1], letter)) if kept else None
        if identity is None:
            kept.append(letter)
        elif identity:
            kept.pop()
        else:
            return None
    return tuple(kept)


def _nonzero(words: Words) -> Words:
    return {word: factor for word, factor in words.items() if factor}


def extracts(matrix: Words) -> bool:
    """M A = A and M B = 0 are all it takes."""
    A: Words = {("A",): Fraction(1)}
    B: Words = {("B",): Fraction(1)}
    return _times(matrix, A) == A and not _times(matrix, B)


def shown(words: Words) -> str:
    """As a line of text: B Aᵀ − 2 I."""
    pieces = []
    for word, factor in sorted(words.items()):
        letters = " ".join(letter.replace("'", "ᵀ") for letter in word) or "I"
        pieces.append(letters if factor == 1 else f"−{letters}" if factor == -1 else f"{factor} {letters}")
    return " + ".join(pieces).replace("+ −", "− ") or "0"
