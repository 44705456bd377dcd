"""Typed expressions → sympy, entry by entry, for proofs about scalars. Bounded, and stopped when it takes long.

sympy is imported where it is used: it takes half a second, and only the process that judges formulas needs it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from grader.formulas.syntax.expressions import (
    Add,
    Apply,
    Constant,
    Divide,
    Expression,
    Identity,
    Multiply,
    Number,
    Power,
    Sum,
    Symbol,
    Transpose,
)

_Result = TypeVar("_Result")
_MAX_EXPONENT = 64


def _functions() -> dict[str, Callable[..., Any]]:
    import sympy

    return {
        "exp": sympy.exp,
        "log": sympy.log,
        "sqrt": sympy.sqrt,
        "tanh": sympy.tanh,
        "logistic": lambda x: 1 / (1 + sympy.exp(-x)),
        "max": sympy.Max,
        "min": sympy.Min,
    }


class NoProof(Exception):
    """Beyond what is tried symbolically; sampling decides."""


class _TooLong(BaseException):
    """Not an Exception, so that nothing inside sympy swallows it."""


@contextmanager
def _at_most(cpu_seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooLong

    earlier = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, earlier)


def attempted(proof: Callable[[], _Result], cpu_seconds: float = 0.4) -> _Result | None:
    """What the proof finds, or None if it takes too long or cannot be had."""
    import sympy  # noqa: F401  # loading it, which takes as long as a proof may, is no part of the proof

    try:
        with _at_most(cpu_seconds):
            return proof()
    except (
        _TooLong,
        NoProof,
        NotImplementedError,
        ValueError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ):
        return None


def sympy_symbol(symbol: Symbol) -> Any:
    import sympy

    return sympy.Symbol(str(symbol), positive=True)


def as_sympy(expression: Expression, vectors: Mapping[str, Any], labels: Mapping[str, int], count: int) -> Any:
    """A sympy number or column; `vectors` maps family names to lists of explicit columns, `count` is their number."""
    import sympy

    functions = _functions()

    def convert(part: Expression, bound: Mapping[str, int]) -> Any:
        match part:
            case Number(value):
                return sympy.Rational(value.numerator, value.denominator)
            case Constant(name):
                return {"e": sympy.E, "π": sympy.pi, "∞": sympy.oo}[name]
            case Symbol(name, index) if name in vectors and index:
                place = bound.get(index[0], labels.get(index[0]))
                if place is None or not 0 <= place < count:
                    raise NoProof
                return vectors[name][place]
            case Symbol():
                return sympy_symbol(part)
            case Add(terms):
                total = convert(terms[0], bound)
                for term in terms[1:]:
                    total = total + convert(term, bound)
                return total
            case Multiply(left, right):
                return _unwrapped(convert(left, bound) * convert(right, bound))
            case Divide(over, under):
                return convert(over, bound) / convert(under, bound)
            case Power(base, exponent):
                above = convert(exponent, bound)
                if above.is_number and not abs(above) <= _MAX_EXPONENT:
                    raise NoProof
                return convert(base, bound) ** above
            case Transpose(of):
                inner = convert(of, bound)
                return inner.T if isinstance(inner, sympy.MatrixBase) else inner
            case Apply("norm", (inner,)):
                column = convert(inner, bound)
                return sympy.sqrt(_unwrapped(column.T * column))
            case Apply(function, arguments, None) if function in functions:
                return functions[function](*(convert(argument, bound) for argument in arguments))
            case Sum(domain, body):
                skipped = {labels.get(label) for label in domain.without}
                places = [labels[label] for label in domain.only] if domain.only else range(count)
                total = 0 * convert(body, {**bound, domain.index: 0})
                for place in places:
                    if place not in skipped:
                        total = total + convert(body, {**bound, domain.index: place})
                return total
            case Identity():
                raise NoProof
        raise NoProof

    return convert(expression, {})


def _unwrapped(value: Any) -> Any:
    return value[0, 0] if getattr(value, "shape", None) == (1, 1) else value
