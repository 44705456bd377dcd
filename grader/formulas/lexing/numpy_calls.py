"""numpy's spellings: `.T`, `.dot(`, `np.exp`, `np.linalg.inv`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.formulas.lexing.cursor import Cursor
from grader.formulas.lexing.symbols import read_function, read_word
from grader.formulas.lexing.tokens import Token, Unreadable
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation.function_names import (
    APPLYING_METHODS,
    FUNCTIONS,
    MODULES,
    MULTIPLYING_METHODS,
    NUMPY_CONSTANTS,
    TRANSPOSING_METHODS,
    swaps_rows_and_columns,
)
from grader.quoting import quote

_AXIS = re.compile(r"-?\d")
_METHODS = TRANSPOSING_METHODS | MULTIPLYING_METHODS | APPLYING_METHODS


def read_swap(cursor: Cursor, text: str, start: int) -> Token:
    """`K.transpose(-1, -2)`."""
    one, other = map(int, _AXIS.findall(text))
    if not swaps_rows_and_columns(one, other):
        raise Unreadable(f"'{quote(text, 30)}' does not swap rows and columns", start)
    return cursor.token("TRANSPOSE", "T", start)


def read_attribute(cursor: Cursor, text: str, start: int) -> Token:
    name = text[1:].removesuffix("()")
    if name in APPLYING_METHODS:
        return cursor.token("METHOD", name, start)
    if name in TRANSPOSING_METHODS:
        return cursor.token("TRANSPOSE", "T", start)
    if name in MULTIPLYING_METHODS:
        return cursor.token("OPERATOR", "@", start)
    raise Unreadable(f"'{quote(text, 20)}' is not known here", start)


def read_dotted(cursor: Cursor, vocabulary: Vocabulary, text: str, start: int) -> Iterator[Token]:
    """`np.exp`, `A.T`, or the end of a sentence without a space after it."""
    *path, name = text.split(".")
    of_a_module = set(path) <= MODULES
    if of_a_module and name in FUNCTIONS:
        yield read_function(cursor, FUNCTIONS[name], start)
        return
    if of_a_module and name == "sum":
        yield cursor.token("FUNCTION", name, start)
        return
    if of_a_module and name in NUMPY_CONSTANTS:
        yield cursor.token("CONSTANT", NUMPY_CONSTANTS[name], start)
        return
    # What follows the first dot is read as a piece of its own.
    is_attribute = len(path) == 1 and name in _METHODS
    if (
        not is_attribute
        and cursor.prose
        and len(path) == 1
        and {path[0].replace("_", ""), name} <= vocabulary.recognised
    ):
        yield from _read_product(cursor, vocabulary, path[0], start)
        return
    if not is_attribute and cursor.prose:
        cursor.at = start + len(path[0])
        yield cursor.token("WORD", path[0], start)
        return
    if not is_attribute and not {path[0], name} <= vocabulary.recognised:
        raise Unreadable(f"'{quote(text, 30)}' is not known here", start)
    word = path[0] if path[0].isalpha() else path[0].partition("_")[0]  # k_a.T: the index is read with its letter
    cursor.at = start + len(word)
    yield from read_word(cursor, vocabulary, word, start)


def _read_product(cursor: Cursor, vocabulary: Vocabulary, factor: str, start: int) -> Iterator[Token]:
    """`k_a.q`, as the scalar product is typed."""
    letter = factor.partition("_")[0]
    cursor.at = start + len(letter)
    yield from read_word(cursor, vocabulary, letter, start)
    dot = start + len(factor)
    cursor.at = dot + 1
    yield cursor.token("OPERATOR", "·", dot)
