"""What is raised: a transpose, a dagger, a star, or a power."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from grader.formulas.lexing.cursor import Cursor
from grader.formulas.lexing.numerals import braced, read_number
from grader.formulas.lexing.symbols import read_name
from grader.formulas.lexing.tokens import Token
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation.faces import FACE_NAMES
from grader.notation.operators import DAGGERS, TRANSPOSES

_SPACED_BRACES = re.compile(r"[{}\s]")
# No letter is refused behind a face: `{\rm T}` has lost its space by then.
_FACES_AND_SPACES = re.compile(rf"\\(?:{FACE_NAMES}|intercal(?=.)|,|!)")
_ONE_RAISED = re.compile(r"\s*([0-9]\d*|[A-Za-z])")
_CLOSING_CARET = re.compile(r"\^(?![\w{(])")
_INVERSE_TRANSPOSES = ("-T", "-top", "-\\top", "-\\intercal", "-⊤")
_PRIMES = ("'", "prime", "′")
_STARS = ("*", "ast", "star", "∗")


def read_superscript(cursor: Cursor, vocabulary: Vocabulary, start: int) -> Iterator[Token]:
    before = cursor.at
    plain = _FACES_AND_SPACES.sub("", _SPACED_BRACES.sub("", cursor.group())).lstrip("\\")
    if cursor.prose and cursor.take(_CLOSING_CARET):  # A^T^, as some Markdown has it
        cursor.blank(cursor.at - 1)
    if plain in TRANSPOSES or plain in _PRIMES:
        yield cursor.token("TRANSPOSE", "T", start)
    elif plain in DAGGERS:
        yield cursor.token("DAGGER", "+", start)
    elif plain in _STARS:
        yield cursor.token("STAR", "*", start)
    elif plain in _INVERSE_TRANSPOSES:
        yield cursor.token("^", "^", start)
        yield from braced(cursor, cursor.token("NUMBER", Fraction(-1), start))
        yield cursor.token("TRANSPOSE", "T", start)
    else:
        cursor.at = before
        yield cursor.token("^", "^", start)
        # One letter or number only: a^2b is a²b. Python's ** takes what comes.
        if cursor.text[start] != "*" and (raised := cursor.take(_ONE_RAISED)):
            yield from braced(cursor, _one_raised(cursor, vocabulary, raised))


def _one_raised(cursor: Cursor, vocabulary: Vocabulary, raised: re.Match[str]) -> Token:
    if raised[1].isdigit():
        return read_number(cursor, raised[1], raised.start(1))
    return read_name(cursor, vocabulary, raised[1], raised.start(1))
