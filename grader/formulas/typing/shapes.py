"""Which shape each part of a formula has; what does not fit is said in the student's own symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.formulas.compute.declared_functions import COMPUTED, ENTRYWISE, shape_of
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
    Operator,
    Power,
    PseudoInverse,
    Sum,
    Symbol,
    Transpose,
    rebuilt,
    symbols_in,
    walk,
)
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.vocabulary import ONE, SCALAR, Shape, Vocabulary
from grader.rubric.hints import did_you_mean

UNSIZED = ("?", "?")  # an identity of unknown size, or a zero: takes the shape of what it stands beside
_ZERO = Number(Fraction(0))
_INVERSE = Number(Fraction(-1))
_ONE = Number(Fraction(1))
# What gives a vector for a vector, entry by entry: numbers may be added to that, and divided by it.
_ENTRYWISE = frozenset(["exp", "log", "sqrt", "tanh", "logistic", "softmax", "σ", *ENTRYWISE])
_OF_ALL_ENTRIES = frozenset(["sum", "max", "min"])  # numbers that may be taken from each entry: x - max(x)


def _with_x(definition: Expression, argument: Expression) -> Expression:
    """A function that the question defines, taken of this."""
    return rebuilt(definition, lambda part: argument if part == Symbol("x") else part)


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


def typed(expression: Expression, vocabulary: Vocabulary, expected: Shape | None = None) -> Typed:
    """The expression with every shape settled; Misfit if it has none."""
    found = _Typing(vocabulary).infer(expression, {})
    if found.shape == UNSIZED and expected is not None and not _is_zero(found.expression):
        found = _sized(found, expected[0])
    return found


class _Typing:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def infer(self, expression: Expression, bound: Mapping[str, str]) -> Typed:
        """`bound` maps the indices of the sums around to the dimensions they run to."""
        match expression:
            case Number(value):
                return Typed(expression, UNSIZED if value == 0 else SCALAR)
            case Constant():
                return Typed(expression, SCALAR)
            case Identity(size):
                known = size in self._vocabulary.dimensions
                return Typed(Identity(size if known else ""), (size, size) if known else UNSIZED)
            case Symbol():
                return self._symbol(expression, bound)
            case Add(terms):
                return self._sum([self.infer(term, bound) for term in terms])
            case Multiply(Transpose(left), right, operator) if left in (_ONE, Identity()):
                return self._product_with_ones(left, self.infer(right, bound), operator)
            case Multiply(left, right, operator):
                return self._product(self.infer(left, bound), self.infer(right, bound), operator)
            case Divide(over, under):
                return self._quotient(self.infer(over, bound), self.infer(under, bound))
            case Power(base, exponent):
                return self._power(self.infer(base, bound), exponent, bound)
            case Transpose(of):
                inner = self.infer(of, bound)
                if self._is_unsaid_matrix(of):
                    raise Unreadable(f"it is not said what {plain(of)} is")
                if of == _ONE:
                    raise Unreadable("it is not clear how many entries 1ᵀ has")
                if inner.shape in (SCALAR, UNSIZED):
                    return inner
                return Typed(Transpose(inner.expression), (inner.shape[1], inner.shape[0]))
            case PseudoInverse(of):
                inner = self.infer(of, bound)
                return Typed(PseudoInverse(inner.expression), (inner.shape[1], inner.shape[0]))
            case Apply():
                return self._application(expression, bound)
            case Sum():
                return self._big_sum(expression, bound)
            case Entry(of, row, ""):
                return self._entry_of_vector(expression, self.infer(of, bound), bound)
            case Entry(of, row, column):
                if unbound := [label for label in (row, column) if label not in bound]:
                    raise Misfit(f"{plain(expression)} stands where nothing says what {unbound[0]} is")
                return Typed(Entry(self.infer(of, bound).expression, row, column), SCALAR)
            case Entries():
                return self._entries(expression, bound)

    def _symbol(self, symbol: Symbol, bound: Mapping[str, str]) -> Typed:
        found = self._vocabulary.find(symbol.name, symbol.index)
        if symbol.mark and found and self._vocabulary.marks_matter:
            raise Unreadable(f"it is not clear what {plain(symbol)} is here")
        if found is None:
            if str(symbol) in self._vocabulary.asked:
                raise Misfit(f"{plain(symbol)} is what is asked for; it cannot be used to say what it is")
            whole = self._vocabulary.find(symbol.name) if len(symbol.index) == 1 and not symbol.mark else None
            if whole and symbol.index[0] in bound and ONE in whole[0].shape != SCALAR:  # y_j of a vector y
                return Typed(Entry(Symbol(whole[0].name), symbol.index[0]), SCALAR)
            if any(letter in bound for label in symbol.index for letter in label):  # β_i, δ_ia in a sum over i
                raise Unreadable(f"it is not said what {plain(symbol)} is")
            if not symbol.index and any(one.name == symbol.name and one.runs_to for one in self._vocabulary.declared):
                raise Unreadable(f"{plain(symbol)} stands without its index")
            if symbol.name.startswith("∇"):
                raise Unreadable(f"it is not said what {plain(symbol)} is")
            return Typed(symbol, SCALAR)  # a letter nobody declared is a free number
        declared, index = found
        for label, dimension in zip(index, declared.runs_to, strict=False):
            if label in declared.labels or label.isdecimal() or label in bound or label == dimension:
                continue
            if len(label) == 1 and label.isalpha():
                meant = did_you_mean(label, declared.labels)
                raise Misfit(f"{plain(symbol)} stands outside a sum over {label}{meant}: say which one is meant")
            raise Misfit(f"{plain(symbol)} is not one of the symbols of this question")
        return Typed(symbol, declared.shape)

    def _entry_of_vector(self, expression: Entry, of: Typed, bound: Mapping[str, str]) -> Typed:
        if ONE not in of.shape or of.shape == SCALAR:
            raise Unreadable(f"{plain(expression)} has one index, and {plain(of.expression)} is {shown(of.shape)}")
        if expression.row not in bound:
            raise Unreadable(f"{plain(expression)} stands where nothing says what {expression.row} is")
        return Typed(Entry(of.expression, expression.row), SCALAR)

    def _is_unsaid_matrix(self, expression: Expression) -> bool:
        """Nobody transposes a number: U in UUᵀ is a matrix introduced in words, or in a way that is not read."""
        if not isinstance(expression, Symbol) or not (expression.name.isascii() and expression.name.isupper()):
            return False
        return self._vocabulary.find(expression.name, expression.index) is None

    def _sum(self, terms: list[Typed]) -> Typed:
        shapes = list(dict.fromkeys(term.shape for term in terms if term.shape != UNSIZED))
        if not shapes:
            return Typed(Add(tuple(term.expression for term in terms)), UNSIZED)
        if len(shapes) == 2 and SCALAR in shapes and any(map(_is_entrywise, terms)):  # 1 + exp(-x)
            shapes.remove(SCALAR)
        if len(shapes) > 1:
            one, other = (next(term for term in terms if term.shape == shape) for shape in shapes[:2])
            raise Misfit(
                f"{plain(one.expression)} is {shown(one.shape)} and {plain(other.expression)} is "
                f"{shown(other.shape)}: they cannot be added"
            )
        (shape,) = shapes
        settled: list[Expression] = []
        for term in terms:
            if term.shape == UNSIZED and shape == SCALAR:
                if not isinstance(term.expression, Number):
                    raise Misfit(f"{plain(term.expression)} is a matrix and stands beside numbers")
                settled.append(term.expression)
            elif term.shape == UNSIZED and not _is_zero(term.expression):
                if shape[0] != shape[1]:
                    raise Misfit(
                        f"the identity is square, and {plain(_first_of(terms, shape))} is {shown(shape)}: "
                        f"they cannot be added"
                    )
                settled.append(_sized(term, shape[0]).expression)
            elif term.shape != UNSIZED:
                settled.append(term.expression)
        return Typed(Add(tuple(settled)) if len(settled) > 1 else settled[0], shape)

    def _product(self, left: Typed, right: Typed, operator: Operator) -> Typed:
        if _is_zero(left.expression) or _is_zero(right.expression):
            return Typed(_ZERO, UNSIZED)
        if UNSIZED in (left.shape, right.shape):
            return self._product_with_identity(left, right, operator)
        if right.expression == _ONE and left.shape[0] == ONE != left.shape[1]:  # xᵀ1
            return Typed(Apply("sum", (Transpose(left.expression),)), SCALAR)
        if SCALAR in (left.shape, right.shape):
            shape = right.shape if left.shape == SCALAR else left.shape
            return Typed(Multiply(left.expression, right.expression), shape)
        if operator in ("∘", "⊙") and left.shape == right.shape and "hadamard" in self._vocabulary.functions:
            return Typed(Apply("hadamard", (left.expression, right.expression)), left.shape)
        if operator == "∘" and left.shape == right.shape:
            both = f"{plain(left.expression)} and {plain(right.expression)}"
            raise Unreadable(f"'∘' between {both} may be a product entry by entry or a dot product")
        if operator == "⊗" and left.shape[1] == ONE and right.shape[1] == ONE:
            return Typed(Multiply(left.expression, Transpose(right.expression)), (left.shape[0], right.shape[0]))
        if left.shape[1] == right.shape[0]:
            return Typed(Multiply(left.expression, right.expression), (left.shape[0], right.shape[1]))
        if operator in ("·", "@") and left.shape == right.shape and left.shape[1] == ONE:  # a dot product
            return Typed(Multiply(Transpose(left.expression), right.expression), SCALAR)
        raise Misfit(
            f"{plain(left.expression)} is {shown(left.shape)} and {plain(right.expression)} is {shown(right.shape)}: "
            f"they cannot be multiplied"
        )

    def _product_with_identity(self, left: Typed, right: Typed, operator: Operator) -> Typed:
        """The identity gets its size from the other factor, unless that has none either."""
        if left.shape in (SCALAR, UNSIZED) and right.shape in (SCALAR, UNSIZED):
            return Typed(Multiply(left.expression, right.expression, operator), UNSIZED)
        if left.shape == UNSIZED:
            return Typed(Multiply(_sized(left, right.shape[0]).expression, right.expression), right.shape)
        return Typed(Multiply(left.expression, _sized(right, left.shape[1]).expression), left.shape)

    def _product_with_ones(self, left: Expression, right: Typed, operator: Operator) -> Typed:
        """1ᵀx is the sum of the entries of a vector, and 1ᵀA that of the rows of a matrix."""
        if right.shape in (SCALAR, UNSIZED) or (left != _ONE and right.shape[1] != ONE):
            return self._product(self.infer(left, {}), right, operator)
        return Typed(Apply("sum", (right.expression,)), (ONE, right.shape[1]))

    def _quotient(self, over: Typed, under: Typed) -> Typed:
        if _is_entrywise(under) and over.shape in (SCALAR, under.shape):
            return Typed(Divide(over.expression, under.expression), under.shape)
        if under.shape != SCALAR:
            if _is_zero(under.expression):
                raise Misfit("it divides by zero")
            raise Misfit(f"it divides by {plain(under.expression)}, which is {shown(under.shape)}")
        return Typed(Divide(over.expression, under.expression), over.shape)

    def _power(self, base: Typed, exponent: Expression, bound: Mapping[str, str]) -> Typed:
        if base.shape not in (SCALAR, UNSIZED) and isinstance(exponent, Symbol) and exponent.name in ("t", "T", "τ"):
            return Typed(Transpose(base.expression), (base.shape[1], base.shape[0]))
        power = self.infer(exponent, bound)
        if base.expression == Constant("e") and power.shape not in (SCALAR, UNSIZED):
            return self._application(Apply("exp", (exponent,)), bound)
        if power.shape not in (SCALAR, UNSIZED):
            raise Misfit(f"the exponent {plain(exponent)} is {shown(power.shape)}, not a number")
        if base.shape in (SCALAR, UNSIZED):
            return Typed(Power(base.expression, power.expression), base.shape)
        whole = isinstance(power.expression, Number) and power.expression.value.denominator == 1
        if base.shape[0] != base.shape[1]:
            if _is_entrywise(base):
                raise Unreadable(f"{plain(base.expression)} is raised to a power entry by entry, which is not read")
            what = "has no inverse" if power.expression == _INVERSE else "cannot be raised to a power"
            raise Misfit(f"{plain(base.expression)} is {shown(base.shape)}, not square: it {what}")
        if not whole:
            raise Misfit(f"a matrix is raised to the power {plain(exponent)}; only whole powers are read")
        return Typed(Power(base.expression, power.expression), base.shape)

    def _application(self, expression: Apply, bound: Mapping[str, str]) -> Typed:
        if expression.function == "E" and isinstance(drawn := expression.arguments[0], Symbol):
            return self.infer(Symbol(self._vocabulary.means.get(drawn.name, drawn.name), drawn.index), bound)
        arguments = [self.infer(argument, bound) for argument in expression.arguments]
        below = None if expression.below is None else self.infer(expression.below, bound).expression
        inner = tuple(argument.expression for argument in arguments)
        applied = Apply(expression.function, inner, below, expression.axis)
        shape = arguments[0].shape
        match expression.function:
            case "norm":
                return Typed(applied, SCALAR)
            case "softmax":
                if shape == SCALAR:
                    raise Misfit(f"softmax is taken of {plain(inner[0])}, a single number")
                return Typed(applied, shape)
            case "σ" | "logistic":
                if shape == SCALAR or _is_zero(inner[0]):  # a 0 that is written out has no size of its own
                    return Typed(Apply("logistic", inner, below), SCALAR)
                return Typed(applied, shape)  # σ of a vector stays: what it is depends on the key
            case "tanh" if shape not in (SCALAR, UNSIZED):
                return Typed(applied, shape)
            case "exp" | "log" | "sqrt" if ONE in shape:  # of a matrix they may be another function
                return Typed(applied, shape)
            case "max" | "min":
                sized = [argument for argument in arguments if argument.shape not in (SCALAR, UNSIZED)]
                if expression.function == "max" and len(inner) == 2 and _ZERO in inner and sized:
                    return Typed(Apply("relu", (sized[0].expression,)), sized[0].shape)
                return Typed(applied, SCALAR)
            case function if function in COMPUTED:
                found = shape_of(function, [argument.shape for argument in arguments])
                if isinstance(found, str):
                    raise Misfit(f"{plain(applied)} does not fit: {found}")
                return Typed(applied, found)
            case function if function in self._vocabulary.defined and shape in (SCALAR, UNSIZED):
                return self.infer(_with_x(self._vocabulary.defined[function], inner[0]), bound)
            case function if (
                function in self._vocabulary.functions - self._vocabulary.defined.keys()
            ):  # O(…) is as large as what it holds
                return arguments[0]
        if any(argument.shape not in (SCALAR, UNSIZED) for argument in arguments):
            raise Unreadable(f"{expression.function} is taken of {plain(inner[0])}, which is {shown(shape)}")
        return Typed(applied, SCALAR)

    def _big_sum(self, expression: Sum, bound: Mapping[str, str]) -> Typed:
        domain = expression.domain
        if domain == Domain("") and not self._free_indices(expression.body, bound):  # sum(exp(x))
            entries = self.infer(expression.body, bound)
            if _is_entrywise(entries) and entries.shape[1] == ONE:
                return Typed(Apply("sum", (entries.expression,)), SCALAR)
        index = domain.index or self._only_index(expression.body, bound)
        known = self._runs_to(expression.body, index, bound)
        runs_to = known or domain.high or ONE
        inner = self.infer(expression.body, {**bound, index: runs_to})
        varies = known or Symbol(index) in symbols_in(inner.expression)
        if not varies and inner.shape != SCALAR and _is_entrywise(inner):  # perhaps the sum of its entries
            raise Unreadable(f"nothing in the sum of {plain(inner.expression)} has an index {index}")
        of_vectors = any(isinstance(part, Entry) and not part.column for part in walk(inner.expression))
        if of_vectors and domain.high not in ("", known):
            raise Unreadable(f"it is not clear whether {plain(expression)} runs over all entries")
        settled = replace(domain, index=index, high=domain.high or runs_to)
        return Typed(Sum(settled, inner.expression), inner.shape)

    def _entries(self, found: Entries, bound: Mapping[str, str]) -> Typed:
        rows, columns = (self._runs_to(found.body, index, bound) for index in (found.row, found.column))
        columns = columns if found.column else ONE
        if not rows or not columns:
            raise Unreadable(f"it is not clear how many values {found.column if rows else found.row} has")
        inner = self.infer(found.body, {**bound, found.row: rows, found.column: columns})
        if inner.shape != SCALAR:
            raise Misfit(f"{plain(inner.expression)} is {shown(inner.shape)}, and an entry of a matrix is a number")
        return Typed(Entries(found.row, found.column, inner.expression, rows, columns), (rows, columns))

    def _only_index(self, body: Expression, bound: Mapping[str, str]) -> str:
        free = self._free_indices(body, bound)
        if len(free) != 1:
            raise Misfit("it is not clear what the sum runs over")
        return free.pop()

    def _free_indices(self, body: Expression, bound: Mapping[str, str]) -> set[str]:
        return {
            label
            for symbol in symbols_in(body)
            for label in symbol.index
            if label not in bound
            and len(label) == 1
            and (found := self._vocabulary.find(symbol.name, symbol.index))
            and label not in found[0].labels
        }

    def _runs_to(self, body: Expression, index: str, bound: Mapping[str, str]) -> str:
        for symbol in symbols_in(body):
            found = self._vocabulary.find(symbol.name, symbol.index)
            whole = self._vocabulary.find(symbol.name) if symbol.index == (index,) and not found else None
            if whole and ONE in whole[0].shape:
                return _entries_of(whole[0].shape)
            if found and index in found[1]:
                runs = found[0].runs_to
                return runs[found[1].index(index)] if runs else ""
        for part in walk(body):
            if isinstance(part, Entry) and index in (part.row, part.column):
                shape = self.infer(part.of, {**bound, index: ONE}).shape
                return shape[0 if part.row == index else 1] if part.column else _entries_of(shape)
        return ""


def _entries_of(vector: Shape) -> str:
    return vector[0] if vector[1] == ONE else vector[1]


def _first_of(terms: list[Typed], shape: Shape) -> Expression:
    return next(term.expression for term in terms if term.shape == shape)


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


def _sized(found: Typed, size: str) -> Typed:
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


def _is_entrywise(found: Typed) -> bool:
    """Whether functions are taken in it entry by entry; or, if it is a number, of all entries."""
    functions = _OF_ALL_ENTRIES if found.shape == SCALAR else _ENTRYWISE
    return any(isinstance(part, Apply) and part.function in functions for part in walk(found.expression))


def _is_zero(expression: Expression) -> bool:
    return isinstance(expression, Number) and expression.value == 0
