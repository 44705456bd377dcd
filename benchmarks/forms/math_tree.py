"""LaTeX's formulas as a tree: as much of LaTeX as the answers use, and an error for anything else."""

from __future__ import annotations

import re
from dataclasses import dataclass

SYMBOLS = {
    "alpha": "α",
    "approx": "≈",
    "beta": "β",
    "Delta": "Δ",
    "ell": "ℓ",
    "epsilon": "ε",
    "gamma": "γ",
    "geq": "≥",
    "gg": "≫",
    "in": "∈",
    "infty": "∞",
    "ldots": "…",
    "mu": "μ",
    "neq": "≠",
    "quad": "  ",
    "sigma": "σ",
    "Sigma": "Σ",
    "sim": "∼",
    "sum": "Σ",
    "times": "×",
    "to": "→",
    "top": "T",
}
NAMES = ("exp", "max")
_TOKEN = re.compile(r"\\[A-Za-z]+|\s+|.", re.DOTALL)
_FACES = {"mathbb": {"R": "ℝ"}, "mathrm": {}, "text": {}}


@dataclass(frozen=True)
class Atom:
    text: str


@dataclass(frozen=True)
class Fraction:
    over: Row
    under: Row


@dataclass(frozen=True)
class Root:
    of: Row


@dataclass(frozen=True)
class Scripts:
    base: Node
    below: Row | None
    above: Row | None


Node = Atom | Fraction | Root | Scripts
Row = tuple[Node, ...]


def parsed(formula: str) -> Row:
    return _Parser(formula).row("")


class _Parser:
    def __init__(self, formula: str) -> None:
        self._tokens = _TOKEN.findall(formula)
        self._at = 0

    def row(self, end: str) -> Row:
        found: list[Node] = []
        while self._at < len(self._tokens) and self._tokens[self._at] != end:
            if self._tokens[self._at] in ("_", "^"):
                found.append(self._scripts(found.pop()))
            else:
                found.append(self._node())
        self._at += 1
        return tuple(found)

    def _scripts(self, base: Node) -> Node:
        below = above = None
        while self._at < len(self._tokens) and (kind := self._tokens[self._at]) in ("_", "^"):
            self._at += 1
            if kind == "_":
                below = self._argument()
            else:
                above = self._argument()
        return Scripts(base, below, above)

    def _argument(self) -> Row:
        if self._tokens[self._at] == "{":
            self._at += 1
            return self.row("}")
        return (self._node(),)

    def _node(self) -> Node:
        token = self._tokens[self._at]
        self._at += 1
        if token.isspace():
            return Atom(" ")
        if not token.startswith("\\"):
            return Atom(token)
        name = token[1:]
        if name == "frac":
            return Fraction(self._argument(), self._argument())
        if name == "sqrt":
            return Root(self._argument())
        if name in _FACES:
            letters = "".join(node.text for node in self._argument() if isinstance(node, Atom))
            return Atom(_FACES[name].get(letters, letters))
        if name in NAMES:
            return Atom(name)
        if name == "Delta" and self._tokens[self._at : self._at + 1] == [
            " "
        ]:  # one letter with what it is the change of
            self._at += 1
        return Atom(SYMBOLS[name])
