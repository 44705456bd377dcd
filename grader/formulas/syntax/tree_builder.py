"""What the grammar found → expressions, each alternative of the grammar by a method of its name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from lark import Token as LarkToken
from lark import Transformer

from grader.formulas.lexing.tokens import Token, Unreadable
from grader.formulas.syntax.ellipsis import ELLIPSIS
from grader.formulas.syntax.expressions import (
    Add,
    Apply,
    Constant,
    Divide,
    Domain,
    Entry,
    Expression,
    Identity,
    Multiply,
    Number,
    Power,
    PseudoInverse,
    Sum,
    Symbol,
    Transpose,
    negative,
    row_and_column,
)
from grader.formulas.syntax.windows import window_written_out
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation.function_names import DECLARABLE, KEYWORDS, swaps_rows_and_columns
from grader.quoting import quote


class _List:
    """Several expressions between brackets; only some functions and matrices of columns know what to do with it."""

    def __init__(self, items: list[Any], stacked: bool = False) -> None:
        self.items = items
        self.stacked = stacked  # parted by semicolons, as rows are


class Builder(Transformer[LarkToken, Any]):
    """Innermost first; each method is named after an alternative of the grammar."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def start(self, items: list[Any]) -> Expression:
        found: Expression = items[0]
        return found

    def number(self, items: list[Any]) -> Expression:
        return Number(items[0].value.value)

    def minus_number(self, items: list[Any]) -> Expression:
        return Number(-items[1].value.value)

    def name(self, items: list[Any]) -> Expression:
        symbol: Symbol = items[0].value.value
        if not symbol.index and not symbol.mark and self._vocabulary.find(symbol.name) is None:
            if symbol.name == "e":
                return Constant("e")
            if symbol.name == "π":
                return Constant("π")
        pair = row_and_column(symbol)
        known = self._vocabulary.find(symbol.name) if pair else None
        if pair and known and "1" not in known[0].shape and self._vocabulary.find(symbol.name, symbol.index) is None:
            return Entry(Symbol(known[0].name), *pair)
        return symbol

    def constant(self, items: list[Any]) -> Expression:
        return Constant(items[0].value.value)

    def identity(self, items: list[Any]) -> Expression:
        return Identity(items[0].value.value)

    def ellipsis(self, items: list[Any]) -> Expression:
        return ELLIPSIS

    def bracketed(self, items: list[Any]) -> Expression:
        found: Expression = items[1]
        return self._of_columns(_juxtaposed(found)) or found

    def matrix(self, items: list[Any]) -> Expression:
        listed = items[1].items
        if found := self._of_columns(listed):
            return found
        rows = [item.of if isinstance(item, Transpose) else item for item in listed]
        turned = items[1].stacked and isinstance(listed[0], Transpose)
        if turned and (found := self._of_columns(rows)):
            return Transpose(found)
        raise Unreadable("a list of values cannot stand here; write sums and products", items[0].value.start)

    def _of_columns(self, listed: list[Any]) -> Expression | None:
        """The matrix that a_1, …, a_m are the columns of."""
        columns = [item for item in listed if item != ELLIPSIS]
        first = columns[0] if columns else None
        if isinstance(first, Symbol) and all(isinstance(item, Symbol) and item.name == first.name for item in columns):
            declared = self._vocabulary.find(first.name, first.index)
            if declared and declared[0].columns_of and ELLIPSIS in listed:
                return Symbol(declared[0].columns_of)
        return None

    def plus(self, items: list[Any]) -> Expression:
        found: Expression = items[1]
        return found

    def minus(self, items: list[Any]) -> Expression:
        return negative(items[1])

    def add(self, items: list[Any]) -> Expression:
        left = items[0].terms if isinstance(items[0], Add) else (items[0],)
        return Add((*left, items[2]))

    def subtract(self, items: list[Any]) -> Expression:
        return self.add([items[0], items[1], negative(items[2])])

    def juxtaposed(self, items: list[Any]) -> Expression:
        return Multiply(items[0], items[1])

    def multiplied(self, items: list[Any]) -> Expression:
        return Multiply(items[0], items[2], items[1].value.value)

    def divided(self, items: list[Any]) -> Expression:
        return Divide(items[0], items[2])

    def fraction(self, items: list[Any]) -> Expression:
        return Divide(items[1], items[2])

    def binomial(self, items: list[Any]) -> Expression:
        return Apply("binomial", (items[1], items[2]))

    def big_sum(self, items: list[Any]) -> Expression:
        return window_written_out(Sum(items[0].value.value, items[1]), self._vocabulary)

    def power(self, items: list[Any]) -> Expression:
        return Power(items[0], items[2])

    def transposed(self, items: list[Any]) -> Expression:
        return Transpose(items[0])

    def primed(self, items: list[Any]) -> Expression:
        """A transpose for what has a shape; part of the name for what is not known."""
        base = items[0]
        if isinstance(base, Symbol) and self._vocabulary.find(base.name, base.index) is None:
            return Symbol(base.name, base.index, base.mark + "′")
        return Transpose(base)

    def daggered(self, items: list[Any]) -> Expression:
        return PseudoInverse(items[0])

    def starred(self, items: list[Any]) -> Expression:
        """q* is the best q; A* is A's conjugate transpose."""
        base = items[0]
        known = self._vocabulary.find(base.name, base.index) if isinstance(base, Symbol) else None
        is_matrix = known is not None and "1" not in known[0].shape
        return Transpose(base) if is_matrix else base

    def indexed(self, items: list[Any]) -> Expression:
        """k^T_a: the index came after the transpose."""
        base, labels = items[0], items[1].value.value
        if isinstance(base, Apply) and base.function == "norm":
            return self._other_norm(base, labels, items[1].value)
        inner = base.of if isinstance(base, Transpose) else base
        if isinstance(inner, Symbol) and not inner.index:
            symbol = self._vocabulary.symbol(inner.name, labels, inner.mark)
            return Transpose(symbol) if isinstance(base, Transpose) else symbol
        if not isinstance(inner, Symbol) and (pair := row_and_column(Symbol("", labels))):  # (XᵀY)_ij
            return Entry(base, *pair)
        if not isinstance(inner, Symbol) and len(labels) == 1 and len(labels[0]) == 1 and labels[0].isalpha():
            return Entry(base, labels[0])  # (Wh)_j
        raise Unreadable("an index should stand directly below a letter", items[1].value.start)

    def _other_norm(self, norm: Apply, labels: tuple[str, ...], token: Token) -> Expression:
        name = {"1": "norm1", "∞": "norminf", "infty": "norminf", "inf": "norminf"}.get("".join(labels), "")
        if labels == ("F",):
            return norm
        if name not in self._vocabulary.functions:
            raise Unreadable("only the usual norm is known here", token.start)
        return Apply(name, norm.arguments)

    def column(self, items: list[Any]) -> Expression:
        base = items[0]
        for one in self._vocabulary.declared:
            if isinstance(base, Symbol) and one.columns_of == base.name:
                return Symbol(one.name, (items[1].value.value,))
        raise Unreadable("only columns of the question's own matrices are read", items[1].value.start)

    def root(self, items: list[Any]) -> Expression:
        return Apply("sqrt", (items[2] if len(items) == 4 else items[1],))

    def root_of_number(self, items: list[Any]) -> Expression:
        return Apply("sqrt", (self.number(items[1:]),))

    def root_of_name(self, items: list[Any]) -> Expression:
        return Apply("sqrt", (self.name(items[1:]),))

    def norm(self, items: list[Any]) -> Expression:
        return Apply("norm", (items[1],))

    def absolute(self, items: list[Any]) -> Expression:
        return Apply("abs", (items[1],))

    def inner(self, items: list[Any]) -> Expression:
        return Multiply(Transpose(items[1]), items[3])

    def keyword(self, items: list[Any]) -> Any:
        return (str(items[0].value.value), Number(items[-1].value.value * (-1 if len(items) == 4 else 1)))

    def listed(self, items: list[Any]) -> _List:
        parted = [item.value.value for item in items if isinstance(item, LarkToken)]
        return _List([item for item in items if not isinstance(item, LarkToken)], ";" in parted)

    def argument(self, items: list[Any]) -> _List:
        kept = [item for item in items if not isinstance(item, LarkToken)]
        if len(kept) == 1 and isinstance(kept[0], _List):
            return kept[0]
        if any(isinstance(item, tuple) for item in kept):
            return _List(kept)
        product = kept[0]
        for item in kept[1:]:
            product = Multiply(product, item)
        return _List([product])

    def apply(self, items: list[Any]) -> Expression:
        return self._applied(items[0].value, None, items[1])

    def apply_below(self, items: list[Any]) -> Expression:
        return self._applied(items[0].value, items[2], items[3])

    def _applied(self, token: Token, below: Expression | None, given: _List) -> Expression:
        name: str = token.value
        keywords: dict[str, Any] = dict(item for item in given.items if isinstance(item, tuple))
        arguments = [item for item in given.items if not isinstance(item, tuple)]
        if keywords.keys() - KEYWORDS or not arguments:
            raise Unreadable(f"'{quote(name)}' does not take that", token.start)
        along = keywords.get("axis", keywords.get("dim"))
        if name == "softmax" and len(arguments) == 2 and along is None:  # torch's softmax(x, -1)
            along = arguments.pop()
        if name == "transpose" and len(arguments) == 3 and swaps_rows_and_columns(*map(_whole, arguments[1:])):
            del arguments[1:]  # torch's transpose(x, 0, 1)
        axis = None if along is None else _axis(along, token)
        name = DECLARABLE.get(name, name) if name in self._vocabulary.functions else name
        wanted = 2 if name in ("product", "outer", "inner", "binomial", "hadamard") else 1
        if name not in ("max", "min") and len(arguments) != wanted:
            raise Unreadable(f"'{quote(name)}' takes {wanted} argument{'s' * (wanted > 1)}", token.start)
        match name:
            case "product":
                return Multiply(arguments[0], arguments[1], "@")
            case "inner":
                return Multiply(Transpose(arguments[0]), arguments[1])
            case "outer":
                return Multiply(arguments[0], arguments[1], "⊗")
            case "transpose":
                return Transpose(arguments[0])
            case "inverse":
                return Power(arguments[0], Number(Fraction(-1)))
            case "pinv":
                return PseudoInverse(arguments[0])
            case "sum":
                return Sum(Domain(""), arguments[0])
            case "identity":
                return Identity(str(arguments[0]) if isinstance(arguments[0], Symbol) else "")
        if name.startswith("softmax over"):
            name, axis = "softmax", 1 if name.endswith("rows") else 0
        return Apply(name, tuple(arguments), below, axis)

    def softmax_of(self, items: list[Any]) -> Expression:
        """torch's x.softmax(dim=-1) and x.softmax(-1)."""
        token: Token = items[1].value
        name, along = items[3] if isinstance(items[3], tuple) else ("dim", items[3])
        if name not in KEYWORDS:
            raise Unreadable("'softmax' does not take that", token.start)
        return Apply("softmax", (items[0],), None, _axis(along, token))


def _whole(expression: Expression) -> Fraction | None:
    return expression.value if isinstance(expression, Number) else None


def _axis(expression: Expression, token: Token) -> int:
    """Of a matrix: 0 or 1, also counted from its end."""
    axis = _whole(expression)
    if axis not in (0, 1, -1, -2):
        raise Unreadable(f"a matrix has the axes 0 and 1, or -2 and -1, and no axis {plain(expression)}", token.start)
    return int(axis) % 2


def _juxtaposed(expression: Expression) -> list[Expression]:
    """What stands side by side without a sign between."""
    if isinstance(expression, Multiply) and not expression.operator:
        return [*_juxtaposed(expression.left), expression.right]
    return [expression]
