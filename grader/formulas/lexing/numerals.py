"""Numbers as they are written: 10,000, 10{,}000, 1e6, 1,5, ½, and the digits of \\frac12."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from grader.formulas.lexing.cursor import Cursor
from grader.formulas.lexing.tokens import MAX_DECIMAL_EXPONENT, MAX_DIGITS, Token, Unreadable
from grader.quoting import quote

_SEPARATORS = re.compile(r"\{,\}|[_,]")
_DECIMAL_COMMA = re.compile(r"\d+,(?:\d{1,2}|\d{4,})")
_DIGIT = re.compile(r"\s*([0-9])")


def read_number(cursor: Cursor, text: str, start: int) -> Token:
    text = text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else _SEPARATORS.sub("", text)
    if len(text) > MAX_DIGITS:
        raise Unreadable(f"a number of {len(text):,} digits; up to {MAX_DIGITS} are read", start)
    _, _, exponent = text.lower().partition("e")
    if exponent and abs(int(exponent)) > MAX_DECIMAL_EXPONENT:
        cause = f"the number {quote(text, 30)} is too large; exponents up to {MAX_DECIMAL_EXPONENT} are read"
        raise Unreadable(cause, start)
    return cursor.token("NUMBER", Fraction(text), start)


def read_short_fraction(cursor: Cursor) -> Iterator[Token]:
    """\\frac12 and \\frac 1{n}: digits that stand for themselves."""
    for _ in range(2):
        digit = cursor.take(_DIGIT)
        if not digit:
            return
        yield from braced(cursor, cursor.token("NUMBER", Fraction(digit[1]), digit.start(1)))


def braced(cursor: Cursor, token: Token) -> Iterator[Token]:
    """One token as a group of its own, with braces that nobody wrote."""
    yield Token("{", "{", token.start, token.start)
    yield token
    yield cursor.token("}", "}", cursor.at)
