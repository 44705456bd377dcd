"""Each stage of the reader as one line of text: tokens → clauses → answer → types.

The stages stand elsewhere, and each can be called alone: `tokens_of` makes tokens of an answer, `clauses_in` clauses
of them, `found_for` takes the equation that counts, `typed` gives it a shape. This module only shows their results.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.formulas.answer.clauses import Clause
from grader.formulas.answer.explaining import Read, Reading, claimed
from grader.formulas.answer.statements import Statements
from grader.formulas.lexing.tokens import Token
from grader.formulas.syntax.expressions import Domain, symbols_in
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.shapes import UNSIZED
from grader.formulas.typing.vocabulary import ONE, SCALAR, Shape
from grader.notation.letters import SUPERSCRIPTS
from grader.quoting import quote

_SHORT = {"RELATION": "REL", "NUMBER": "NUM", "OPERATOR": "OP"}
_SEAMS = {"": "¦", "soft": "¦", "\n": "¦"}  # breaks that have no sign of their own
_RAISED = {letter: small for small, letter in SUPERSCRIPTS.items()} | {"×": "ˣ"}
_PARTED, _LISTED = " | ", " · "


def stages_of(reading: Reading) -> list[tuple[str, str]]:
    """The name and the line of each stage, down to the one where reading stopped."""
    lines = []
    if reading.statements is not None:
        lines.append(("tokens", tokens_line(reading.statements)))
        if isinstance(reading, Read) or reading.stage != "tokens":
            lines.append(("clauses", clauses_line(reading.statements)))
    if isinstance(reading, Read):
        return [*lines, ("answer", answer_line(reading)), ("types", types_line(reading))]
    return lines if reading.stage == "tokens" else [*lines, ("answer", f"not read: {reading.cause}")]


def tokens_line(statements: Statements) -> str:
    """NAME y · REL = · NAME c · ( · NAME u · - · NAME w · )."""
    unread = [f"not read: '{quote(fault.text, 60)}': {fault.cause}" for fault in statements.faults]
    read = _LISTED.join(_token(token) for token in statements.tokens if _has_a_sign(token, statements.tokens))
    return _PARTED.join([*([read] if read else []), *unread]) or "none"


def _has_a_sign(token: Token, tokens: Sequence[Token]) -> bool:
    """A seam at either end parts nothing."""
    return not (token.value in _SEAMS and token.kind == "BREAK" and (token is tokens[0] or token is tokens[-1]))


def _token(token: Token) -> str:
    if token.kind in ("BREAK", "ROW", "COMMA"):
        return _SEAMS.get(str(token.value), str(token.value))
    if isinstance(token.value, Domain):
        one = token.value
        return f"SUM {one.index}{f'={one.low}' if one.low else ''}{f'…{one.high}' if one.high else ''}"
    value = ",".join(token.value) if isinstance(token.value, tuple) else str(token.value)
    return token.kind if value in ("", token.kind) else f"{_SHORT.get(token.kind, token.kind)} {value}".rstrip()


def clauses_line(statements: Statements) -> str:
    """y = c(u − w)   |   c ≫ 0. What cannot be read stands in quotation marks, as it was written."""
    return _PARTED.join(_clause(clause, statements) for clause in statements.clauses) or "none"


def _clause(clause: Clause, statements: Statements) -> str:
    def member(tokens: tuple[Token, ...]) -> str:
        expression = statements.read(tokens)
        return f"'{quote(clause.text_of(tokens), 80)}'" if expression is None else plain(expression)

    first, *rest = (member(tokens) for tokens in clause.members)
    return " ".join([first, *(f"{relation} {one}" for relation, one in zip(clause.relations, rest, strict=True))])


def answer_line(read: Read) -> str:
    """y := c(u − w), with c large and positive."""
    if read.statements is None or read.expanded is None:
        return read.plain
    sign = ":=" if read.relation == "=" else read.relation
    line = read.plain.replace(f"{read.name} = ", f"{read.name} {sign} ", 1)
    if not line.endswith(written := plain(read.expanded)):
        line += f", which is {written}"
    claims = [(symbol, claimed(read.statements, symbol)) for symbol in read.statements.vocabulary.free(read.expanded)]
    said = [f"{plain(symbol)} {claim}" for symbol, claim in claims if claim]
    return f"{line}, with {' and '.join(said)}" if said else line


def types_line(read: Read) -> str:
    """c scalar · u, w ∈ ℝᵈ · y ∈ ℝᵈ; or what does not fit."""
    if read.statements is None or read.expanded is None:
        return f"{read.name} ∈ ℝ^({read.shape})" if read.shape else "not known here"
    vocabulary = read.statements.vocabulary
    alike: dict[str, list[str]] = {}
    for symbol in symbols_in(read.expanded):
        known = vocabulary.find(symbol.name, symbol.index)
        is_size = known is None and not symbol.index and symbol.name in vocabulary.dimensions
        alike.setdefault("size" if is_size else _type(known[0].shape if known else SCALAR), []).append(plain(symbol))
    letters = [f"{', '.join(names)} {kind}" for kind, names in alike.items()]
    if read.typed is None:
        return _LISTED.join([*letters, f"no type: {read.misfit}"])
    asked = read.shape.partition("; ")[2]
    return _LISTED.join([*letters, f"{read.name} {_type(read.typed.shape)}{f' ({asked})' if asked else ''}"])


def _type(shape: Shape) -> str:
    if shape in (SCALAR, UNSIZED):
        return "scalar" if shape == SCALAR else "of any size"
    sides = shape[0] if shape[1] == ONE else "×".join(shape)
    return "∈ ℝ" + ("".join(_RAISED[letter] for letter in sides) if set(sides) <= set(_RAISED) else f"^({sides})")
