"""Code says what a name is step by step: `y = u - w`, then `y *= 3` or `y = 3 * y`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.formulas.lexing.tokens import Token
from grader.formulas.syntax.expressions import Symbol

_AUGMENTED = ("OPERATOR", "+", "-", "/")
_LONGEST = 200  # tokens: a name that doubles itself grows without end


def assigned(row: Sequence[Token], earlier: dict[Symbol, list[Token]]) -> list[Token]:
    """A line of code with what its name was before put in; `earlier` holds that, and is brought up to date."""
    if len(row) < 3 or row[0].kind != "NAME":
        return list(row)
    name = row[0].value
    is_augmented = row[1].end == row[2].start and (
        row[1].kind in _AUGMENTED or (row[1].kind == "STAR" and name in earlier)
    )
    relation = row[2] if is_augmented else row[1]
    right = list(row[2:])
    if is_augmented:
        operator = replace(row[1], kind="OPERATOR") if row[1].kind == "STAR" else row[1]
        right = [row[0], operator, *_bracketed(row[3:], row[2])]
    if relation.value != "=" or any(token.kind in ("RELATION", "WORD", "BREAK") for token in right):
        return list(row)
    if name in earlier:
        right = [
            part
            for token in right
            for part in (_bracketed(earlier[name], token) if token.kind == "NAME" and token.value == name else [token])
        ]
    if len(right) > _LONGEST:
        return list(row)
    earlier[name] = right
    return [row[0], relation, *right]


def _bracketed(tokens: Sequence[Token], at: Token) -> list[Token]:
    return [Token("(", "(", at.start, at.start), *tokens, Token(")", ")", at.end, at.end)]
