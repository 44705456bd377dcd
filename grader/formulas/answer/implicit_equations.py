"""Equations without an equals sign: `P: UVᵀ`, `y → c(u − w)`, `P is UVᵀ`, `| P | UVᵀ |`, or the formula alone.

They count only where the asked name has no equation of its own: a colon may also end a sentence about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from grader.formulas.answer.clauses import Stream
from grader.formulas.lexing.tokens import Token
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.typing.vocabulary import Vocabulary

_EQUAL = ("=", "≈", "∝", "∼")
_COPULAS = frozenset(
    """
    is be should must will equals equal to becomes gives chosen as given by simply just then defined set either
    usually typically commonly often normally generally
    """.split()  # noqa: SIM905 - words read better than a list of strings
)
_MAX_COPULAS = 5
_ENDS = ("BREAK", "WORD", "ROW")
_BEGINS = ("NAME", "NUMBER", "(", "{", "SUM", "FRACTION", "IDENTITY", "FUNCTION", "-", "SQRT")


def with_implicit_equations(stream: Stream, vocabulary: Vocabulary) -> Stream:
    """The stream with an `=` wherever one is meant and the name has none."""
    tokens = [token for token, _ in stream]
    found = list(stream)
    for name in vocabulary.asked:
        places = [at for at, token in enumerate(tokens) if _names(token, name)]
        if any(_is_equation(tokens, at) for at in places):
            continue
        for at in places:
            end = _copula(tokens, at)
            if end is None or not _is_formula(tokens[end:], vocabulary):
                continue
            for place in range(at + 1, end):
                found[place] = (Token("SOFT", "", tokens[place].start, tokens[place].end), found[place][1])
            found[at + 1] = (replace(found[at + 1][0], kind="RELATION", value="="), found[at + 1][1])
    return [(token, piece) for token, piece in found if token.kind != "SOFT"]


def _names(token: Token, name: str) -> bool:
    return token.kind == "NAME" and isinstance(token.value, Symbol) and str(token.value) == name


def _is_equation(tokens: Sequence[Token], at: int) -> bool:
    near = [token for token in tokens[max(0, at - 1) : at + 4] if token.kind not in ("BREAK", "TRANSPOSE", "STAR")]
    return any(token.kind == "RELATION" and token.value in _EQUAL for token in near)


def _copula(tokens: Sequence[Token], at: int) -> int | None:
    """Where the formula begins, if something that says `is` stands behind the name."""
    before = tokens[at - 1] if at else None
    if before is not None and before.kind not in _ENDS:
        return None
    after = tokens[at + 1 : at + 2]
    if after and after[0].kind == "RELATION":
        return at + 2 if after[0].value == "→" else None
    if after and after[0].kind == "BREAK":
        tabled = after[0].value == "|" and (before is None or before.kind in ("BREAK", "ROW"))
        return at + 2 if after[0].value == ":" or tabled else None
    said = list(takewhile(lambda token: token.kind == "WORD", tokens[at + 1 : at + 2 + _MAX_COPULAS]))
    fits = all(str(token.value).lower() in _COPULAS | {"the"} for token in said)
    return at + 1 + len(said) if said and fits and str(said[0].value).lower() in _COPULAS else None


def _is_formula(tokens: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether a formula stands here that is nobody else's side of an equation, nor a size (d × d)."""
    member = list(takewhile(lambda token: token.kind not in _ENDS, tokens))
    if [one.kind for one in member] == ["NAME", "OPERATOR", "NAME"]:
        return not {str(one.value) for one in (member[0], member[2])} <= set(vocabulary.dimensions)
    return bool(member) and member[0].kind in _BEGINS and not any(token.kind == "RELATION" for token in member)
