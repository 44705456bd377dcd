"""What a formula is once it has been read: a small tree of plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Literal

Operator = Literal[
    "", "·", "*", "@", "⊗", "∘", "⊙"
]  # how a product was written: juxtaposed, dotted, starred, numpy's, outer, entry by entry


@dataclass(frozen=True)
class Number:
    value: Fraction


@dataclass(frozen=True)
class Constant:
    """e, pi or infinity."""

    name: str


@dataclass(frozen=True)
class Symbol:
    """A letter, with what stands below it: k_a is Symbol('k', ('a',)), its `mark` says whether it wears a hat."""

    name: str
    index: tuple[str, ...] = ()
    mark: str = ""

    def __str__(self) -> str:
        below = "".join(self.index) if all(len(label) == 1 for label in self.index) else ",".join(self.index)
        return f"{self.name}{self.mark}" + (f"_{below}" if below else "")


@dataclass(frozen=True)
class Identity:
    """The identity matrix; `size` is a dimension's name once it is known which."""

    size: str = ""


@dataclass(frozen=True)
class Add:
    terms: tuple[Expression, ...]


@dataclass(frozen=True)
class Multiply:
    left: Expression
    right: Expression
    operator: Operator = ""


@dataclass(frozen=True)
class Divide:
    over: Expression
    under: Expression


@dataclass(frozen=True)
class Power:
    base: Expression
    exponent: Expression


@dataclass(frozen=True)
class Transpose:
    of: Expression


@dataclass(frozen=True)
class PseudoInverse:
    of: Expression


@dataclass(frozen=True)
class Apply:
    """A known function; `below` is its subscript (softargmax_β), `axis` what numpy's softmax was told."""

    function: str
    arguments: tuple[Expression, ...]
    below: Expression | None = None
    axis: int | None = None


@dataclass(frozen=True)
class Domain:
    """What an index runs over: `low`…`high`, or all there is, without some labels; or the labels named."""

    index: str
    low: str = ""
    high: str = ""
    without: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sum:
    domain: Domain
    body: Expression


@dataclass(frozen=True)
class Entry:
    """One number of a matrix or a vector: A_ik or (Wh)_j, with indices that something around it binds."""

    of: Expression
    row: str
    column: str = ""


@dataclass(frozen=True)
class Entries:
    """A matrix by its entries: `body` is the one in a row and column; `rows` and `columns` say how many there are.

    Without a column it is a vector.
    """

    row: str
    column: str
    body: Expression
    rows: str = ""
    columns: str = ""


Expression = (
    Number
    | Constant
    | Symbol
    | Identity
    | Add
    | Multiply
    | Divide
    | Power
    | Transpose
    | PseudoInverse
    | Apply
    | Sum
    | Entry
    | Entries
)


def row_and_column(symbol: Symbol) -> tuple[str, str] | None:
    """The two indices of an entry, A_ij or A_{i,j}; None if it has others."""
    labels = "".join(symbol.index)
    if len(labels) != 2 or not labels.isalpha() or labels[0] == labels[1] or symbol.mark:
        return None
    return labels[0], labels[1]


def negative(expression: Expression) -> Expression:
    if isinstance(expression, Number):
        return Number(-expression.value)
    return Multiply(Number(Fraction(-1)), expression)


def children(expression: Expression) -> tuple[Expression, ...]:
    found: list[Expression] = []
    for field in fields(expression):
        value = getattr(expression, field.name)
        if isinstance(value, tuple):
            found.extend(item for item in value if not isinstance(item, str))
        elif isinstance(value, Expression):
            found.append(value)
    return tuple(found)


def walk(expression: Expression) -> Iterator[Expression]:
    yield expression
    for child in children(expression):
        yield from walk(child)


def symbols_in(expression: Expression) -> list[Symbol]:
    """In the order of first mention."""
    return list(dict.fromkeys(part for part in walk(expression) if isinstance(part, Symbol)))


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same expression with every part changed, innermost first."""
    changed: dict[str, Any] = {}
    for field in fields(expression):
        value = getattr(expression, field.name)
        if isinstance(value, tuple) and any(isinstance(item, Expression) for item in value):
            changed[field.name] = tuple(rebuilt(item, change) for item in value)
        elif isinstance(value, Expression):
            changed[field.name] = rebuilt(value, change)
    return change(replace(expression, **changed) if changed else expression)
