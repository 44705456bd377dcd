"""Derivatives by one name, ∇_W L, however written: `\\nabla_W L`, `\\frac{\\partial L}{\\partial W}`, dL/dW."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.formulas.lexing.tokens import Token, Unreadable
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.typing.vocabulary import Vocabulary

SIGNS = {"nabla": "∇", "partial": "∂"}
_WRITTEN = re.compile(r"[∇∂]|\\nabla|\\partial|\bd\w\s*(?:/|\}\s*\{)\s*d\w")
# One letter for each token: G is ∇ or ∂ with an index, D is ∂ or d, N another name, F begins a fraction.
_ARGUMENTS = r"(?:\(N(?:,N)*\))"
_DERIVATIVE = re.compile(
    rf"(?:GN|F\{{DN{_ARGUMENTS}?\}}\{{DN\}}|F\{{D\}}\{{DN\}}N|DN{_ARGUMENTS}?/DN)(?:{_ARGUMENTS}(?==))?"
)


def names_a_derivative(name: str) -> bool:
    return bool(_WRITTEN.search(name))


def derivatives_joined(tokens: Sequence[Token], vocabulary: Vocabulary, prose: bool) -> list[Token]:
    """With one name for each derivative; another ∇ or ∂ is not read."""
    letters = "".join(_letter(token, vocabulary) for token in tokens)
    joined: list[Token] = []
    at = 0
    for found in _DERIVATIVE.finditer(letters):
        name = _name(tokens[found.start() : found.end()], found[0], vocabulary)
        joined += [
            *tokens[at : found.start()],
            Token("NAME", name, tokens[found.start()].start, tokens[found.end() - 1].end),
        ]
        at = found.end()
    joined += tokens[at:]
    for place, token in enumerate(joined):
        if isinstance(token.value, Symbol) and token.value.name in SIGNS.values():
            if not prose:
                raise Unreadable(f"'{token.value.name}' is read in ∇_W L and ∂L/∂W only", token.start)
            joined[place] = Token("BREAK", token.value.name, token.start, token.end)
    return joined


def _letter(token: Token, vocabulary: Vocabulary) -> str:
    if not isinstance(token.value, Symbol):
        return {"FRACTION": "F", "COMMA": ",", "RELATION": "="}.get(
            token.kind, token.kind if len(token.kind) == 1 else "."
        )
    if token.value.name in SIGNS.values() and len(token.value.index) == 1:
        return "G"
    is_d = vocabulary.derivatives and token.value == Symbol("d")
    return "D" if is_d or token.value == Symbol("∂") else "N"


def _name(tokens: Sequence[Token], letters: str, vocabulary: Vocabulary) -> Symbol:
    if letters[0] == "G":
        letter, _, below = tokens[0].value.index[0].partition("_")
        scalar, variable = tokens[1].value, vocabulary.symbol(letter, (below,) if below else ())
    else:
        first, *others = (tokens[found.end() - 1].value for found in re.finditer("DN", letters))
        scalar, variable = (first, others[0]) if others else (tokens[letters.rindex("}") + 1].value, first)
    return Symbol(f"∇_{variable} {scalar}")
