"""What is too large to be computed is refused before anything is computed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from grader.formulas.lexing.lexer import Unreadable
from grader.formulas.syntax.expressions import (
    Add,
    Apply,
    Constant,
    Divide,
    Expression,
    Multiply,
    Number,
    Power,
    Sum,
    Symbol,
    walk,
)
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.vocabulary import Vocabulary
from grader.quoting import quote

MAX_EXPONENT = 1_000  # 10^6 and e^{20} are scales; 10^{10^9} is none
MAX_PARTS = 1_500  # of an expression, definitions put in


def refuse_unbounded(expression: Expression, vocabulary: Vocabulary) -> None:
    """Unreadable if a part is too large, or if it is defined by itself."""
    for count, part in enumerate(walk(expression)):
        if count > MAX_PARTS:
            raise Unreadable("with its definitions put in it is too long to be judged")
        match part:
            case Power(_, exponent):
                value = _constant(exponent)
                if value is not None and not abs(value) <= MAX_EXPONENT:
                    shown = quote(plain(exponent), 30)
                    raise Unreadable(f"the exponent {shown} is too large; up to {MAX_EXPONENT:,} are read")
            case Sum(domain, _):
                for bound in (domain.low, domain.high):
                    if not re.fullmatch(r"\d{0,3}|[^\W\d]+([+-]\d{1,3})?", bound):
                        raise Unreadable(f"a sum up to {quote(bound, 20)} is not read; use the question's own sizes")
            case Symbol() if str(part) in vocabulary.asked:
                raise Unreadable(f"{plain(part)} is what is asked for, so it cannot be used to say what it is")


def _constant(expression: Expression) -> float | None:
    """The value of an expression without symbols, infinite if it is beyond floats; None if it has symbols."""
    try:
        match expression:
            case Number(value):
                return float(value)
            case Constant(name):
                return {"e": math.e, "π": math.pi}.get(name, math.inf)
            case Add(terms):
                values = [_constant(term) for term in terms]
                return None if None in values else math.fsum(value for value in values if value is not None)
            case Multiply(left, right):
                return _both(left, right, lambda one, other: one * other)
            case Divide(over, under):
                return _both(over, under, lambda one, other: one / other if other else math.inf)
            case Power(base, exponent):
                return _both(base, exponent, lambda one, other: float(one**other))
            case Apply("sqrt" | "log" | "exp", (inner,)):
                at = _constant(inner)
                function = {"sqrt": math.sqrt, "log": math.log, "exp": math.exp}[expression.function]
                return None if at is None else function(at)
    except (OverflowError, ValueError, TypeError, ZeroDivisionError):
        return math.inf
    return None


def _both(one: Expression, other: Expression, combine: Callable[[float, float], float]) -> float | None:
    left, right = _constant(one), _constant(other)
    if left is None or right is None:
        return None
    return combine(left, right)
