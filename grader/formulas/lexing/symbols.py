"""Words → symbols: runs of letters taken apart, indices, functions by name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from grader.formulas.lexing.cursor import Cursor
from grader.formulas.lexing.sums import opens_a_sum, read_sum
from grader.formulas.lexing.tokens import MAX_NAME, Token, Unreadable
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation.faces import COMBINING, FACE
from grader.notation.function_names import FUNCTIONS, INFINITIES, KEYWORDS
from grader.notation.letters import LETTERS
from grader.notation.size_words import SHORT_WORDS
from grader.quoting import quote

_DIGITS = re.compile(r"\d+")
_FALLEN = re.compile(r" ([A-Za-z0-9])(?![\w^'’]| [a-z]{2,})")
_EQUALS_SIGN = re.compile(r"\s*=")
_MORE_WORDS = re.compile(r"(?:_[A-Za-z]{2,})+")
_OVER_D = re.compile(r"\s*/\s*d")
_BELOW = re.compile(r"\s*_")
_ROW_AND_COLUMN = re.compile(r"[ijkl]{2}(?![A-Za-z_])")  # A_ij of a matrix that the answer defines
_TWO_INDICES = re.compile(r"[a-z]{2}(?![A-Za-z_])")
_APPLIED = re.compile(r"\s*(?:\\left\s*)?[(\[]")
_ARGUMENT = re.compile(r"\s*(?:[({\[\\]|\Z)")
_OVER = re.compile(rf"\s*_\s*\{{?\s*(?:{FACE.pattern}\s*\{{)?\s*(row|col)\w*\s*\}}*")
_LETTER_COMMAND = re.compile(r"\\([A-Za-z]+)\s*")
_GROUPING = re.compile(r"[{}\s$\\]")

_FIRST_IDEOGRAPH = "\u2e80"  # from here on letters are words of languages that write without spaces
# Letters that name nothing may stand in a run of known ones (2βk), but few: more of them are a word.
_LOOSE_LETTERS, _LOOSE_LETTERS_IN_PROSE, _LONGEST_LOOSE_RUN = 2, 1, 3


def read_word(cursor: Cursor, vocabulary: Vocabulary, word: str, start: int) -> Iterator[Token]:
    """One or several symbols, a function, or a word of prose."""
    if len(word) > MAX_NAME:
        raise Unreadable(f"'{quote(word, 20)}' is no name of a symbol", start)
    before = max(0, start - 2)
    if cursor.next_is("__") or cursor.text[before:start] == "__":
        raise Unreadable(f"'{quote(cursor.text[before : cursor.at + 2], 30)}' is not mathematics", start)
    if opens_a_sum(cursor, vocabulary, word):
        yield read_sum(cursor, start)
    elif word in KEYWORDS and cursor.ahead(_EQUALS_SIGN):
        yield cursor.token("NAME", Symbol(word), start)
    elif cursor.prose and word[0] >= _FIRST_IDEOGRAPH:
        yield cursor.token("WORD", word, start)
    elif word in INFINITIES:
        yield cursor.token("CONSTANT", "∞", start)
    elif (digits := cursor.ahead(_DIGITS)) and word + digits[0] in vocabulary.words:  # q1, k2
        cursor.at = digits.end()
        yield finished_name(cursor, vocabulary, word + digits[0], "", start)
    elif fallen := _fallen_index(cursor, vocabulary, word):
        cursor.at = fallen.end()
        yield finished_name(cursor, vocabulary, word + fallen[1], "", start)
    elif word in ("transpose", "transposed") and cursor.last_is("NAME", ")") and not cursor.ahead(_APPLIED):
        yield cursor.token("TRANSPOSE", word, start)  # A transpose
    elif pieces := _split(cursor, vocabulary, word):
        yield from _run(cursor, vocabulary, pieces, start)
    else:
        longer = cursor.take(_MORE_WORDS)  # large_number
        yield cursor.token("WORD", word + (longer[0] if longer else ""), start)


def _fallen_index(cursor: Cursor, vocabulary: Vocabulary, word: str) -> re.Match[str] | None:
    """The index of a letter that means nothing without one, a blank behind it: `k a`, as it is pasted from a PDF."""
    found = cursor.ahead(_FALLEN) if cursor.prose and word != "a" else None
    if found is None or word + found[1] not in vocabulary.words or vocabulary.find(word) is not None:
        return None
    return found


def _split(cursor: Cursor, vocabulary: Vocabulary, word: str) -> list[str] | None:
    """The fewest symbols a run of letters is made of; None if it is a word of prose."""
    known, prose = vocabulary.recognised, cursor.prose
    in_a_formula = cursor.last_is("RELATION", "NAME", "OPERATOR", "TRANSPOSE", "+", "-", "(", ")", "COMMA", "ELLIPSIS")
    in_a_formula = in_a_formula or cursor.text.strip() == word
    if prose and word.lower() in SHORT_WORDS and not (in_a_formula and (word in known or _is_turned(word))):
        return None
    if word == "or" and _stands_apart(cursor, word):  # `$P = U^\top or UV^\top$`
        return None
    if len(word) == 1 or word in known:
        return [word]
    if vocabulary.derivatives and len(word) == 2 and word[0] == "d" and (cursor.ahead(_OVER_D) or cursor.last_is("/")):
        return [*word]  # dL/dW
    best: list[list[str] | None] = [[]] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for begin in range(end):
            earlier, piece = best[begin], word[begin:end]
            single = len(piece) == 1 and (not prose or not piece.isascii() or piece.isupper())
            if earlier is not None and (single or piece in known):
                current = best[end]
                if current is None or len(earlier) + 1 < len(current):
                    best[end] = [*earlier, piece]
    found = best[-1]
    if found is None:
        return None
    loose = sum(piece not in known for piece in found)
    allowed = _LOOSE_LETTERS_IN_PROSE if prose else _LOOSE_LETTERS
    if loose > allowed or (loose and len(word) > _LONGEST_LOOSE_RUN):
        return None
    return found


def _is_turned(word: str) -> bool:
    """AT, which is Aᵀ with its T fallen to the line, and not the word."""
    return len(word) > 1 and word.isupper() and word.endswith("T")


def _stands_apart(cursor: Cursor, word: str) -> bool:
    """Whether blanks stand around the word that was just taken."""
    begins = cursor.at - len(word)
    return cursor.text[max(0, begins - 1) : begins].isspace() and cursor.text[cursor.at : cursor.at + 1].isspace()


def _run(cursor: Cursor, vocabulary: Vocabulary, pieces: list[str], start: int) -> Iterator[Token]:
    """The symbols of a run of letters; only the last of them carries an index."""
    *before, last = pieces
    for place, piece in enumerate(before):
        after, cursor.at = cursor.at, start + len(piece)
        if FUNCTIONS.get(piece) == "softmax" and place == len(before) - 1:  # softargmaxβ: the scale stands below
            yield cursor.token("FUNCTION", "softmax", start)
            yield cursor.token("_", "", cursor.at)
        else:
            yield read_name(cursor, vocabulary, piece, start)
        start, cursor.at = start + len(piece), after
    yield _last_of_run(cursor, vocabulary, last, start)


def _last_of_run(cursor: Cursor, vocabulary: Vocabulary, piece: str, start: int) -> Token:
    after_a_letter = start > 0 and cursor.text[start - 1].isalpha() and cursor.last_is("NAME")
    after_a_matrix = cursor.prose and cursor.text[max(0, start - 1) : start] == " " and _is_a_matrix(cursor, vocabulary)
    if piece == "T" and (after_a_letter or after_a_matrix) and vocabulary.find("T") is None:
        return cursor.token("TRANSPOSE", "T", start)  # UVT, and U V T
    if piece in vocabulary.functions and cursor.ahead(_ARGUMENT):
        return cursor.token("FUNCTION", piece, start)
    if piece in FUNCTIONS and piece not in vocabulary.words:
        return read_function(cursor, FUNCTIONS[piece], start)
    return read_name(cursor, vocabulary, piece, start)


def _is_a_matrix(cursor: Cursor, vocabulary: Vocabulary) -> bool:
    """Whether what was read last is a matrix of the question."""
    name = cursor.last.value if cursor.last is not None else None
    known = vocabulary.find(name.name, name.index) if isinstance(name, Symbol) else None
    return known is not None and "1" not in known[0].shape


def read_function(cursor: Cursor, name: str, start: int) -> Token:
    """softmax_{rows} says over what, softmax_β with which scale."""
    if name == "identity" and not cursor.ahead(_APPLIED):  # the identity matrix
        return cursor.token("IDENTITY", "", start)
    if name == "softmax" and (below := cursor.take(_OVER)):
        name = "softmax over rows" if below[1] == "row" else "softmax over columns"
    return cursor.token("FUNCTION", name, start)


def read_name(cursor: Cursor, vocabulary: Vocabulary, piece: str, start: int) -> Token:
    """A symbol with what stands over and below it, or a letter that is applied as a function."""
    if cursor.ahead(_APPLIED) and (function := _applied(cursor, vocabulary, piece)):
        return cursor.token("FUNCTION", function, start)
    mark, apart = "", unicodedata.normalize("NFD", piece)
    if len(piece) == 1 and apart[1:] in COMBINING and not vocabulary.find(piece):  # ŷ, as one character
        piece, mark = apart[0], apart[1:]
    while not cursor.ended and cursor.text[cursor.at] in COMBINING:
        mark += cursor.text[cursor.at]
        cursor.at += 1
    return finished_name(cursor, vocabulary, piece, mark, start)


def _applied(cursor: Cursor, vocabulary: Vocabulary, letter: str) -> str:
    """The function that a letter before a bracket is; none if it multiplies the bracket."""
    if letter in ("σ", "sigma") and vocabulary.find("σ") is None:
        return "σ"
    if letter == "t" and "%*%" in cursor.text:  # R's t(A)
        return "transpose"
    return "E" if letter == "E" and vocabulary.means else ""


def finished_name(cursor: Cursor, vocabulary: Vocabulary, piece: str, mark: str, start: int) -> Token:
    """A symbol whose marks are known, with the indices that follow."""
    index = _indices(cursor, vocabulary, piece)
    if not index and piece in vocabulary.words:
        name, index = vocabulary.words[piece]
    else:
        name = LETTERS.get(piece, piece)
    if name == "I" and vocabulary.find(name, index) is None:
        return cursor.token("IDENTITY", "".join(index).partition("×")[0], start)
    return cursor.token("NAME", vocabulary.symbol(name, index, mark), start)


def _indices(cursor: Cursor, vocabulary: Vocabulary, name: str) -> tuple[str, ...]:
    """What stands below a name."""
    found: tuple[str, ...] = ()
    carries_two = any(name in one.spellings and len(one.runs_to) == 2 for one in vocabulary.declared)
    is_family = any(name in one.spellings and one.runs_to for one in vocabulary.declared)
    while cursor.take(_BELOW):
        if (not is_family and (pair := cursor.take(_ROW_AND_COLUMN))) or (
            carries_two and (pair := cursor.take(_TWO_INDICES))
        ):
            found = (*found, pair[0])
        else:
            found = (*found, *labels_in(cursor.group()))
    return found


def labels_in(raw: str) -> tuple[str, ...]:
    """The indices that a group below a letter holds: `i,j`, `\\text{rows}`, `\\alpha`."""
    raw = FACE.sub("", raw)
    raw = _LETTER_COMMAND.sub(lambda found: LETTERS.get(found[1], found[1]), raw)
    raw = _GROUPING.sub("", raw)
    return tuple(LETTERS.get(label, label) for label in raw.split(",") if label)
