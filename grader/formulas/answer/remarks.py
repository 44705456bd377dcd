"""Remarks beside a formula: `P = UVᵀ (of rank one)`, `y = c(u − w) – c is large`, `(3) P = …`, `UVᵀ (d×d)`.

A remark ends the formula before it; what it says (of the size of β, say) is still read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from grader.formulas.lexing.tokens import WORDS, Token
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation.denials import INTERJECTIONS, PERHAPS
from grader.notation.size_words import FILLER_WORDS, LARGE_WORDS, LINKING_WORDS, SCALE_WORDS, SMALL_WORDS
from grader.notation.word_lists import words

_NUMBERED = re.compile(r"\A\s*\(\d{1,2}[a-z]?\)(?=\s*\S.*(?:=|≈))|(?:\.{4,}|…{2,}|\s{3,})\s*\(\d{1,2}[a-z]?\)\s*\Z")
_DASHES = ("-", "/")
_STARTERS = (
    LINKING_WORDS
    | INTERJECTIONS
    | PERHAPS
    | words("since as if because has have so when here equivalently alternatively or see from by no actually rather")
)
_VERBS = frozenset(["is", "are", "has", "have", "denotes", "being", "can", "should", "must", "may", "tends", "goes"])
_MANY_WORDS = 3  # so many words are a remark whatever they are; `(key a + key b)` has two


def without_numbers(row: str) -> str:
    """A row without the number of its equation, and as long as before."""
    return _NUMBERED.sub(lambda found: " " * len(found[0]), row)


def remarks_apart(tokens: Sequence[Token], text: str, vocabulary: Vocabulary, prose: bool) -> list[Token]:
    """The tokens of a row, with breaks where remarks begin and end."""
    found = list(tokens)
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind == "(":
            opened.append(at)
        elif token.kind == ")" and opened:
            begin = opened.pop()
            inner = tokens[begin + 1 : at]
            comma = _remark_inside(tokens, begin, at)
            if comma is not None:  # c(u − w, where c is large): the bracket of the formula ends at the comma
                found[comma], found[at] = replace(tokens[comma], kind=")", value=")"), _break(token)
            elif _is_remark(inner) and _is_a_factor(tokens, begin, at):
                found[begin] = replace(tokens[begin], kind="OPAQUE", value=WORDS)
            elif _is_remark(inner) or _are_dimensions(inner, text[token.start - 8 : token.end], vocabulary):
                for place in (begin, at, *_commas_of(tokens, begin, at)):
                    found[place] = _break(tokens[place])
    for at in range(len(found) - 1):
        end = _end_of_dash(found, at)
        spaced = text[found[at].start - 1 : found[at].start].isspace() and text[found[end - 1].end :][:1] == " "
        if prose and end > at and spaced and _begins_remark(found[end:]):
            found[at:end] = [_break(token) for token in found[at:end]]
        elif found[at].kind == "/" and spaced and begins_equation(found[at + 1 :], vocabulary):  # P = Uᵀ / P = UVᵀ
            found[at] = replace(found[at], kind="WORD", value="or")
    if "O" in vocabulary.functions:  # orders are known here, so what is left open is of a higher one
        for at, (token, after) in enumerate(pairwise(tokens)):
            higher = after.kind == "ELLIPSIS" or str(after.value).lower() in ("higher", "terms", "h")
            if token.kind == "+" and higher and _ends_here(tokens[at + 2 :]):
                found[at : at + 2] = _break(token), _break(after)
    return found


def _ends_here(after: Sequence[Token]) -> bool:
    return not after or after[0].kind in ("BREAK", "WORD", "RELATION", "ROW")


def _break(token: Token) -> Token:
    return replace(token, kind="BREAK")


def _is_remark(inner: Sequence[Token]) -> bool:
    words = [str(token.value).lower() for token in inner if token.kind == "WORD"]
    joins = any(token.kind in ("+", "-", "OPERATOR", "^", "/") for token in inner)
    names_only = bool(words) and not joins and not set(words) <= SCALE_WORDS | FILLER_WORDS  # (K layers, n tokens)
    known = any(word in _STARTERS | LARGE_WORDS | SMALL_WORDS for word in words)
    return names_only or len(words) >= _MANY_WORDS or known


def _is_a_factor(tokens: Sequence[Token], begin: int, end: int) -> bool:
    """Whether a bracket touches the letter before it and names something: c(the row u plus w) is no remark."""
    before = tokens[begin - 1] if begin else None
    touches = before is not None and before.kind == "NAME" and before.end == tokens[begin].start
    return touches and any(isinstance(token.value, Symbol) and token.value.index for token in tokens[begin + 1 : end])


def _remark_inside(tokens: Sequence[Token], begin: int, end: int) -> int | None:
    """The comma behind which a bracket that begins as a factor goes on in words."""
    said = next((at for at in range(begin + 1, end) if tokens[at].kind == "WORD"), end)
    comma = said - 1
    if not _is_a_factor(tokens, begin, comma) or tokens[comma].kind != "COMMA" or not _is_remark(tokens[said:end]):
        return None
    return comma


def _are_dimensions(inner: Sequence[Token], text: str, vocabulary: Vocabulary) -> bool:
    names = [token.value.name for token in inner if isinstance(token.value, Symbol)]
    product = [token.kind for token in inner] == ["NAME", "OPERATOR", "NAME"] and ("×" in text or "times" in text)
    return product and set(names) <= set(vocabulary.dimensions)


def _commas_of(tokens: Sequence[Token], begin: int, end: int) -> list[int]:
    """The commas directly in a bracket; in a remark they separate clauses."""
    depth, places = 0, []
    for at in range(begin, end):
        depth += (tokens[at].kind == "(") - (tokens[at].kind == ")")
        if depth == 1 and tokens[at].kind == "COMMA":
            places.append(at)
    return places


def _end_of_dash(tokens: Sequence[Token], at: int) -> int:
    """Just after the dash that begins here, which may be written `--`; here, if there is none."""
    if tokens[at].kind not in _DASHES:
        return at
    end = at + 1
    while end < len(tokens) and tokens[end].kind == tokens[at].kind == "-" and tokens[end].start == tokens[end - 1].end:
        end += 1
    return end


def begins_equation(after: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether an asked name and an equals sign follow."""
    names_it = bool(after) and after[0].kind == "NAME" and str(after[0].value) in vocabulary.asked
    return names_it and len(after) > 1 and after[1].kind == "RELATION"


def _begins_remark(after: Sequence[Token]) -> bool:
    """Words, or a letter that something is said about."""
    words = [str(token.value).lower() if token.kind == "WORD" else "" for token in after[:2]] or [""]
    if words[0]:
        return words[0] in _STARTERS or all(words)
    return bool(after) and after[0].kind == "NAME" and len(words) > 1 and words[1] in _VERBS
