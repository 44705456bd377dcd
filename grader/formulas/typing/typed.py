"""Expressions whose shape is known, and what stands for a size that is not known yet."""

from __future__ import annotations

from dataclasses import dataclass

from grader.formulas.syntax.expressions import Add, Divide, Expression, Identity, Multiply, Number, Power
from grader.formulas.typing.vocabulary import ONE, SCALAR, Shape

UNSIZED = ("?", "?")  # an identity of unknown size, or a zero: takes the shape of what it stands beside


class Misfit(Exception):
    """Read without trouble, but the parts do not go together; `what` is the one line to show."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


@dataclass(frozen=True)
class Typed:
    """An expression whose identities know their size and whose transposes and products are settled."""

    expression: Expression
    shape: Shape


def shown(shape: Shape) -> str:
    """`a number`, `a vector in ℝᵈ`, `m×d`."""
    if shape == SCALAR:
        return "a number"
    if shape == UNSIZED:
        return "an identity matrix"
    rows, columns = shape
    if columns == ONE:
        return f"a vector with {rows} entries"
    if rows == ONE:
        return f"a row with {columns} entries"
    return f"{rows}×{columns}"


def sized(found: Typed, size: str) -> Typed:
    """With the size given to identities and zeros that had none."""

    def inside(part: Expression) -> Expression:
        match part:
            case Identity(""):
                return Identity(size)
            case Add(terms):
                return Add(tuple(inside(term) for term in terms))
            case Multiply(left, right, operator):
                return Multiply(inside(left), inside(right), operator)
            case Divide(over, under):
                return Divide(inside(over), under)
            case Power(base, exponent):
                return Power(inside(base), exponent)
        return part

    return Typed(inside(found.expression), (size, size))


def is_zero(expression: Expression) -> bool:
    return isinstance(expression, Number) and expression.value == 0
