"""Signs: operators, relations, brackets and bars."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.formulas.lexing.cursor import Cursor
from grader.formulas.lexing.sums import read_sum
from grader.formulas.lexing.superscripts import read_superscript
from grader.formulas.lexing.symbols import finished_name, labels_in
from grader.formulas.lexing.tokens import Token, Unreadable
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation.operators import ELLIPSES, OPERATORS, RELATIONS
from grader.quoting import quote

_COLUMN = re.compile(r"\s*:\s*,\s*(\w)\s*\]")
_EQUATES = re.compile(r"\s*(?:=|≈|:=)")
_IN_BRACKETS = re.compile(r"""["']?([a-z])["']?\]""")
_FACTOR = re.compile(r" (\(|[^\W\d_]+)(?! [a-z]{2,})")  # behind a full stop `A is …` begins a sentence
_INDEX = re.compile(r"\s*(?:\{|\w)")  # (XᵀY)_{ij}, (Wh)_j
_EUCLIDEAN = re.compile(r"\s*(?:2|\{\s*2\s*\})")


def read_sign(cursor: Cursor, vocabulary: Vocabulary, sign: str, start: int) -> Iterator[Token]:
    """What is neither a letter nor a command nor a number."""
    match sign:
        case "~" if not cursor.prose:  # a space that does not break, in LaTeX
            pass
        case "*" if cursor.last_is("NAME") and cursor.touches(start) and cursor.ahead(_EQUATES):  # q* = …, the best q
            yield cursor.token("STAR", "*", start)
        case "[" if cursor.last_is("NAME") and (label := _label(cursor, vocabulary)):  # k[a] and k["a"] are k_a
            yield cursor.token("INDEX", (label,), start)
        case "^" | "**":
            yield from read_superscript(cursor, vocabulary, start)
        case "[" if cursor.last_is("NAME") and (column := cursor.take(_COLUMN)):  # A[:, i] is a_i
            yield Token("COLUMN", column[1], column.start(), column.end())
        case "(" | "[" | "{":
            cursor.open(start)
            yield cursor.token("{" if sign == "{" else "(", sign, start)
        case ")" | "]" | "}":
            cursor.close()
            yield cursor.token("}" if sign == "}" else ")", sign, start)
        case "⟨" | "⟩":
            yield cursor.token(sign, sign, start)
        case "_":
            yield from _underscore(cursor, vocabulary, start)
        case "⊙" if "hadamard" in vocabulary.functions:
            yield cursor.token("OPERATOR", "⊙", start)
        case "'" | "’" | "′" | "`" | "ʹ":
            if cursor.last_is("NAME", ")", "}") and cursor.touches(start):
                yield cursor.token("PRIME", "'", start)
        case "|" if cursor.prose:
            yield cursor.token("BREAK", "|", start)
        case "|" | "‖" | "||":
            yield read_bar(cursor, "|" if sign == "|" else "‖", start)
        case "∑":
            yield read_sum(cursor, start)
        case "∨":
            yield cursor.token("WORD", "or", start)
        case "∇" | "∂":
            yield finished_name(cursor, vocabulary, sign, "", start)
        case "√":
            yield cursor.token("SQRT", "√", start)
        case "∞":
            yield cursor.token("CONSTANT", "∞", start)
        case "⊤" | "⊺" | "†":
            yield cursor.token("DAGGER" if sign == "†" else "TRANSPOSE", sign, start)
        case "," | ";":
            yield cursor.token("COMMA" if cursor.depth > 0 else "BREAK", sign, start)
        case "&":
            pass  # only says where lines are aligned
        case "." if _multiplies(cursor, vocabulary, start):
            yield cursor.token("OPERATOR", "·", start)
        case "." | ":" | "?" | "$" | '"' | "#" | "“" | "”":
            yield cursor.token("BREAK", sign, start)
        case _ if sign in ELLIPSES:
            yield cursor.token("ELLIPSIS", "…", start)
        case _ if sign in OPERATORS:
            yield read_operator(cursor, OPERATORS[sign], start)
        case _ if sign in RELATIONS:
            yield cursor.token("RELATION", RELATIONS[sign], start)
        case _ if cursor.prose:
            yield cursor.token("BREAK", sign, start)
        case _:
            raise Unreadable(f"the character '{quote(sign)}' has no meaning here", start)


def _multiplies(cursor: Cursor, vocabulary: Vocabulary, start: int) -> bool:
    """Whether a full stop with blanks around it stands for a product: `ki . q`."""
    spaced = cursor.text[max(0, start - 1) : start] == " " and cursor.last_is("NAME", ")", "TRANSPOSE", "PRIME")
    factor = cursor.ahead(_FACTOR) if spaced else None
    return factor is not None and (factor[1] == "(" or factor[1] in vocabulary.recognised)


def _label(cursor: Cursor, vocabulary: Vocabulary) -> str:
    """The index in brackets of a letter that has such an index."""
    found = cursor.ahead(_IN_BRACKETS)
    name = cursor.last.value if cursor.last is not None else None
    if found is None or not isinstance(name, Symbol) or name.index:
        return ""
    if vocabulary.find(name.name, (found[1],)) is None:
        return ""
    cursor.at = found.end()
    return found[1]


def _underscore(cursor: Cursor, vocabulary: Vocabulary, start: int) -> Iterator[Token]:
    if cursor.last_is("FUNCTION", "SUM"):
        yield cursor.token("_", "_", start)
    elif cursor.last_is("NAME", "TRANSPOSE", "PRIME", "}") or (cursor.last_is(")") and cursor.ahead(_INDEX)):
        yield read_index(cursor, start)
    elif cursor.last_is("NORM_CLOSE") and cursor.take(_EUCLIDEAN):
        pass  # the usual norm
    elif cursor.last_is("NORM_CLOSE") and {"norm1", "norminf"} & vocabulary.functions:
        yield read_index(cursor, start)
    elif not cursor.prose:
        raise Unreadable("'_' should stand after a letter", start)


def read_index(cursor: Cursor, start: int) -> Token:
    """An index that does not follow its letter at once: k^T_a."""
    labels = labels_in(cursor.group())
    return cursor.token("INDEX", labels, start)


def read_operator(cursor: Cursor, operator: str, start: int) -> Token:
    if operator == "±":
        raise Unreadable("'±' leaves open which sign is meant; write one", start)
    return cursor.token(operator if operator in "+-/" else "OPERATOR", operator, start)


def read_bar(cursor: Cursor, bar: str, start: int) -> Token:
    kind = "NORM" if bar == "‖" else "BAR"
    return cursor.token(f"{kind}_CLOSE" if cursor.closes_bar(bar) else f"{kind}_OPEN", bar, start)
