"""Typed expressions → numbers, for given matrices and sizes. Plain arithmetic on arrays; nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.formulas.compute.declared_functions import COMPUTED
from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.syntax.expressions import (
    Add,
    Apply,
    Constant,
    Divide,
    Domain,
    Entries,
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
)
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.shapes import Misfit
from grader.formulas.typing.vocabulary import ONE

Array = npt.NDArray[Any]
MAX_TERMS = 200  # of a sum; sizes are drawn far below this
_MAX_MATRIX_POWER = 50  # beyond it floats say little
_CONSTANTS = {"e": float(np.e), "π": float(np.pi), "∞": float("inf")}


@dataclass(frozen=True)
class Values:
    """One draw: what every symbol is. A family is its members in order; `labels` says which member k_a is."""

    sizes: Mapping[str, int]
    arrays: Mapping[str, Array] = field(default_factory=dict)
    families: Mapping[str, Array] = field(default_factory=dict)  # by `family_name`; leading axes are the indices
    labels: Mapping[str, int] = field(default_factory=dict)
    scalars: Mapping[Symbol, float] = field(default_factory=dict)
    softmax_axis: int = 0


def evaluate(expression: Expression, values: Values) -> Array:
    """A matrix; numbers are 1×1. Infinities and NaN may come out: the caller judges them."""
    with np.errstate(all="ignore"):
        return _Evaluation(values).value(expression, {})


def family_name(letter: str, indices: int) -> str:
    """A letter may carry one index or two: a_i, and a_ij."""
    return letter if indices == 1 else f"{letter}[{indices}]"


class _Evaluation:
    def __init__(self, values: Values) -> None:
        self._values = values

    def value(self, expression: Expression, bound: Mapping[str, int]) -> Array:
        match expression:
            case Number(value):
                return np.array([[float(value)]])
            case Constant(name):
                return np.array([[_CONSTANTS[name]]])
            case Symbol():
                return self._symbol(expression, bound)
            case Identity(size):
                return np.eye(self._size(size))
            case Add(terms):
                total = self.value(terms[0], bound)
                for term in terms[1:]:
                    total = total + self.value(term, bound)
                return total
            case Multiply(left, right):
                one, other = self.value(left, bound), self.value(right, bound)
                if one.shape == (1, 1) or other.shape == (1, 1):
                    return np.asarray(one * other)
                return np.asarray(one @ other)
            case Divide(over, under):
                return np.asarray(self.value(over, bound) / self.value(under, bound))
            case Power(base, exponent):
                return self._power(self.value(base, bound), self.value(exponent, bound))
            case Transpose(of):
                return self.value(of, bound).T
            case PseudoInverse(of):
                inner = self.value(of, bound)
                return np.linalg.pinv(inner) if np.isfinite(inner).all() else np.full(inner.T.shape, np.nan)
            case Apply():
                return self._applied(expression, bound)
            case Sum(domain, body):
                return self._sum(domain, body, bound)
            case Entry(of, row, ""):
                vector = self.value(of, bound).reshape(-1, 1)
                if bound[row] > len(vector):
                    raise Misfit(f"{plain(of)} has no entry {row} = {bound[row]}")
                return vector[bound[row] - 1 : bound[row]]
            case Entry(of, row, column):
                return self.value(of, bound)[bound[row] - 1 : bound[row], bound[column] - 1 : bound[column]]
            case Entries(row, column, body, rows, columns):
                places = [range(1, self._size(side) + 1) for side in (rows, columns)]
                entries = [[self.value(body, {**bound, row: i, column: j})[0, 0] for j in places[1]] for i in places[0]]
                return np.array(entries)

    def _size(self, name: str) -> int:
        if name == ONE:
            return 1
        if name not in self._values.sizes:
            raise Misfit("the size of an identity matrix is not clear")
        return self._values.sizes[name]

    def _symbol(self, symbol: Symbol, bound: Mapping[str, int]) -> Array:
        values = self._values
        family = family_name(symbol.name, len(symbol.index))
        if family in values.families and symbol.index:
            members = values.families[family]
            places = tuple(
                self._place(symbol, label, members.shape[axis], bound) for axis, label in enumerate(symbol.index)
            )
            return np.asarray(members[places]).reshape(-1, 1)
        if str(symbol) in values.arrays:
            return values.arrays[str(symbol)]
        if not symbol.index and symbol.name in values.sizes:
            return np.array([[float(values.sizes[symbol.name])]])
        if not symbol.index and symbol.name in bound:
            return np.array([[float(bound[symbol.name])]])
        if symbol not in values.scalars:
            raise Unreadable(f"it is not said what {plain(symbol)} is")
        return np.array([[values.scalars[symbol]]])

    def _place(self, symbol: Symbol, label: str, count: int, bound: Mapping[str, int]) -> int:
        if label in bound:
            place = bound[label] - 1
        elif label in self._values.labels:
            place = self._values.labels[label]
        elif label.isdecimal():
            place = int(label) - 1
        else:
            place = count - 1 if self._values.sizes.get(label) == count else -1
        if not 0 <= place < count:
            raise Misfit(f"{plain(symbol)} is not one of the symbols of this question")
        return place

    def _power(self, base: Array, exponent: Array) -> Array:
        power = float(exponent[0, 0])
        if base.shape == (1, 1):
            return np.asarray(np.power(base, power))
        if not np.isfinite(base).all():
            return np.full(base.shape, np.nan)
        if abs(power) > _MAX_MATRIX_POWER:
            raise Misfit(f"a matrix is raised to a power beyond {_MAX_MATRIX_POWER}")
        try:
            return np.linalg.matrix_power(base, int(power))
        except np.linalg.LinAlgError:
            return np.full(base.shape, np.nan)

    def _applied(self, applied: Apply, bound: Mapping[str, int]) -> Array:
        arguments = [self.value(argument, bound) for argument in applied.arguments]
        first = arguments[0]
        match applied.function:
            case "exp":
                return np.asarray(np.exp(first))
            case "log":
                base = 1.0 if applied.below is None else np.log(self.value(applied.below, bound)[0, 0])
                return np.asarray(np.log(first) / base)
            case "sqrt":
                return np.asarray(np.sqrt(first))
            case "tanh":
                return np.asarray(np.tanh(first))
            case "abs":
                return np.asarray(np.abs(first))
            case "logistic":
                scale = 1.0 if applied.below is None else float(self.value(applied.below, bound)[0, 0])
                return np.asarray(1 / (1 + np.exp(-scale * first)))
            case "norm":
                return np.array([[np.linalg.norm(first)]]) if np.isfinite(first).all() else np.array([[np.nan]])
            case "max":
                return np.array([[max(float(argument.max()) for argument in arguments)]])
            case "min":
                return np.array([[min(float(argument.min()) for argument in arguments)]])
            case "sum":
                return np.asarray(first.sum(axis=0, keepdims=True))
            case "softmax" | "σ":  # σ of a vector, where no key says that it is the sigmoid
                scale = 1.0 if applied.below is None else float(self.value(applied.below, bound)[0, 0])
                return softmax(scale * first, self._values.softmax_axis if applied.axis is None else applied.axis)
        if applied.function in COMPUTED:
            return COMPUTED[applied.function](*arguments)
        raise Misfit(f"'{applied.function}' is not known here")

    def _sum(self, domain: Domain, body: Expression, bound: Mapping[str, int]) -> Array:
        low = 1 if not domain.low else self._bound_of(domain.low)
        high = self._bound_of(domain.high)
        if domain.only:
            places = [self._bound_of(label) for label in domain.only]
        else:
            skipped = {self._bound_of(label) for label in domain.without if label not in bound}
            skipped |= {bound[label] for label in domain.without if label in bound}
            if high - low > MAX_TERMS:
                raise Misfit(f"a sum of {high - low + 1:,} terms; up to {MAX_TERMS} are read")
            places = [place for place in range(low, high + 1) if place not in skipped]
        terms = [self.value(body, {**bound, domain.index: place}) for place in places]
        if not terms:
            return np.zeros_like(self.value(body, {**bound, domain.index: 1}))
        return np.asarray(sum(terms[1:], terms[0]))

    def _bound_of(self, text: str) -> int:
        """Where a sum begins or ends: a number, a size, or one of the labelled members."""
        if shifted := re.fullmatch(r"(\w+)([+-]\d{1,3})", text):  # m-1
            return self._bound_of(shifted[1]) + int(shifted[2])
        if text.isdecimal():
            return int(text[:9])
        if text in self._values.labels:
            return self._values.labels[text] + 1
        if text in self._values.sizes:
            return self._values.sizes[text]
        raise Misfit(f"the sum runs to {text!r}, which is no size here")


def softmax(scores: Array, axis: int) -> Array:
    """Over the rows (axis 0) or columns of a matrix; of a vector always over its entries."""
    if scores.ndim == 2 and 1 in scores.shape:
        axis = 0 if scores.shape[1] == 1 else 1
    shifted = scores - scores.max(axis=axis, keepdims=True)
    weights = np.exp(shifted)
    return np.asarray(weights / weights.sum(axis=axis, keepdims=True))
