"""What the tables of stages are written in: an answer from text, and tokens as one line."""

from __future__ import annotations

from collections.abc import Iterable

from grader.answers import cut_into_parts
from grader.formulas.answer.asked_for import expression
from grader.formulas.lexing.tokens import Token
from grader.formulas.syntax.expressions import Expression, Sum, Symbol
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.vocabulary import ONE, Declared, Vocabulary
from grader.model import Answer

_LABELS = ("a", "b")
KEYS = Vocabulary(  # β(k_a + k_b): keys and values up to n, of which two have names
    (Declared("k", ("d", ONE), ("n",), _LABELS), Declared("v", ("d", ONE), ("n",), _LABELS)), ("d", "n"), ("q",)
)
BASES = Vocabulary(  # A Aᵀ: two matrices and their columns
    (
        Declared("A", ("d", "m")),
        Declared("B", ("d", "p")),
        Declared("a", ("d", ONE), ("m",), columns_of="A"),
        Declared("b", ("d", ONE), ("p",), columns_of="B"),
        Declared("v", ("d", ONE), labels=_LABELS),
        Declared("s", ("d", ONE)),
    ),
    ("d", "m", "p"),
    ("M",),
)
_SEAMS = {"BREAK": "|", "ROW": "⏎", "TRANSPOSE": "ᵀ"}


def answer(text: str, part: str = "1") -> Answer:
    return cut_into_parts(f"# {part}\n\n{text}\n", "answers.md", [part]).parts[part]


def spelled(tokens: Iterable[Token]) -> str:
    """`q = β k_a | where β is large`: a bar where a formula ends, ⏎ where a row does."""
    return " ".join(_SEAMS.get(token.kind) or _spelled(token) for token in tokens)


def _spelled(token: Token) -> str:
    if token.kind == "SUM":
        return plain(Sum(token.value, Symbol("…"))).removesuffix(" …")
    return str(token.value) or token.kind


def read(text: str, vocabulary: Vocabulary = BASES) -> Expression:
    return expression(text, vocabulary)
