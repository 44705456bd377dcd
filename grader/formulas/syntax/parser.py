"""Tokens → expression, by the one grammar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, UnexpectedInput
from lark import Token as LarkToken
from lark.exceptions import VisitError
from lark.lexer import Lexer

from grader.formulas.lexing.tokens import WORDS, Token, Unclosed, Unreadable
from grader.formulas.syntax.ellipsis import ellipses_filled
from grader.formulas.syntax.expressions import Expression
from grader.formulas.syntax.tree_builder import Builder
from grader.formulas.typing.vocabulary import Vocabulary
from grader.quoting import quote

MAX_FORMULA_TOKENS = 400  # the longest honest formula in the corpus has fewer than 120

_TERMINALS = {
    "+": "PLUS",
    "-": "MINUS",
    "/": "SLASH",
    "^": "UP",
    "_": "DOWN",
    "(": "LPAR",
    ")": "RPAR",
    "{": "LBRACE",
    "}": "RBRACE",
    "⟨": "LANGLE",
    "⟩": "RANGLE",
}


class _Handed(Lexer):
    """The tokens are there already."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, data: Sequence[Token]) -> Iterator[LarkToken]:  # type: ignore[override]  # not text: tokens
        for token in data:
            yield LarkToken(_TERMINALS.get(token.kind, token.kind), token)


@cache
def _lark() -> Lark:
    grammar = (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=_Handed)


def parse(tokens: Sequence[Token], vocabulary: Vocabulary) -> Expression:
    """The expression these tokens spell; Unreadable with the place if they spell none."""
    if not tokens:
        raise Unreadable("one side of '=' is empty")
    for token in tokens:
        if token.kind == "OPAQUE" and token.value == WORDS:
            raise Unreadable("a bracket holds words that are not read; use symbols", token.start)
        if token.kind == "OPAQUE":
            raise Unreadable(f"'{token.value}', written out entry by entry, is not read; use symbols", token.start)
    if len(tokens) > MAX_FORMULA_TOKENS:
        raise Unreadable(f"a formula of {len(tokens)} symbols; up to {MAX_FORMULA_TOKENS} are read", tokens[0].start)
    try:
        tree = _lark().parse(tokens)
        return ellipses_filled(Builder(vocabulary).transform(tree))
    except UnexpectedInput as error:
        raise _explained(error, tokens) from None
    except VisitError as error:
        if isinstance(error.orig_exc, Unreadable):
            raise error.orig_exc from None
        raise


def _explained(error: UnexpectedInput, tokens: Sequence[Token]) -> Unreadable:
    token = getattr(error, "token", None)
    if token is None or token.type == "$END":
        opened = [one for one in tokens if one.kind in ("(", "{", "⟨", "NORM_OPEN", "BAR_OPEN")]
        closed = [one for one in tokens if one.kind in (")", "}", "⟩", "NORM_CLOSE", "BAR_CLOSE")]
        if len(opened) > len(closed):
            return Unclosed(quote(str(opened[-1].value)), opened[-1].start)
        return Unreadable("the formula breaks off here", tokens[-1].end)
    found: Token = token.value
    if found.kind in (")", "}", "⟩"):
        return Unreadable(f"the bracket '{quote(str(found.value))}' closes nothing, or too early", found.start)
    return Unreadable(f"'{quote(_shown(found))}' cannot stand here", found.start)


def _shown(token: Token) -> str:
    return str(token.value) if not isinstance(token.value, tuple) else "_" + ",".join(token.value)
