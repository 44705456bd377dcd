"""Expressions written out again: for feedback (plain), and in LaTeX and numpy spelling."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

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
from grader.notation.letters import LETTERS

_NAMES = {letter: name for name, letter in reversed(LETTERS.items())}
_NAMES["ε"] = "epsilon"
_SUM, _PRODUCT, _POSTFIX, _ATOM = range(4)  # how tightly a piece of text holds together
_Piece = tuple[str, int]


def plain(expression: Expression) -> str:
    """As a person writes it in a line of text: c(u - 2 w), U Vᵀ."""
    return _Plain().write(expression)


def latex(expression: Expression) -> str:
    return _Latex().write(expression)


def as_read(expression: Expression, name: str = "") -> dict[str, str]:
    """Evidence of how a formula was read: for a line of text, and to be set on a page."""
    head = f"{name} = " if name else ""
    return {"read_as": f"{head}{plain(expression)}", "read_as_latex": f"{head}{latex(expression)}"}


def all_as_read(formulas: Mapping[str, Expression]) -> dict[str, list[str]]:
    """The same, for an answer of several formulas."""
    several = [as_read(expression, name) for name, expression in formulas.items()]
    return {key: [one[key] for one in several] for key in ("read_as", "read_as_latex")}


def numpy_code(expression: Expression) -> str:
    return _Numpy().write(expression)


class _Plain:
    def write(self, expression: Expression) -> str:
        return self._piece(expression)[0]

    def _at(self, expression: Expression, least: int) -> str:
        text, strength = self._piece(expression)
        return text if strength >= least else f"({text})"

    def _base(self, expression: Expression) -> str:
        """What something is raised on: Aᵀᵀ would be one superscript, so it is (Aᵀ)ᵀ."""
        raised = isinstance(expression, (Power, Transpose, PseudoInverse))
        return self._at(expression, _ATOM if raised else _POSTFIX)

    def _piece(self, expression: Expression) -> _Piece:
        match expression:
            case Number(value):
                return self._number(value)
            case Constant(name):
                return self._constant(name), _ATOM
            case Symbol():
                return self._symbol(expression), _ATOM
            case Identity(size):
                return self._identity(size), _ATOM
            case Add(terms):
                return self._sum(terms), _SUM
            case Multiply(Number(Fraction(numerator=-1, denominator=1)), right):
                return f"-{self._at(right, _PRODUCT)}", _SUM
            case Multiply(left, right, operator):
                return self._product(left, right, operator)
            case Divide(over, under):
                return self._quotient(over, under)
            case Power(base, exponent):
                return self._power(base, exponent)
            case Transpose(of):
                return f"{self._base(of)}{self._transpose}", _POSTFIX
            case PseudoInverse(of):
                return self._pseudo_inverse(of)
            case Apply():
                return self._applied(expression), _ATOM
            case Sum(domain, body):
                return f"{self._big_sum(domain)} {self._at(body, _PRODUCT)}", _SUM
            case Entry(of, row, column):
                return f"{self._at(of, _ATOM)}_{{{row}{column}}}", _ATOM
            case Entries(row, column, body):
                return f"[{self.write(body)}]_{{{row}{column}}}", _ATOM

    _transpose = "ᵀ"

    def _number(self, value: Fraction) -> _Piece:
        if value.denominator == 1:
            return str(value.numerator), _ATOM if value >= 0 else _SUM
        return f"{value.numerator}/{value.denominator}", _SUM

    def _constant(self, name: str) -> str:
        return name

    def _symbol(self, symbol: Symbol) -> str:
        return str(symbol)

    def _identity(self, size: str) -> str:
        return f"I_{size}" if size else "I"

    def _sum(self, terms: tuple[Expression, ...]) -> str:
        text = self._at(terms[0], _SUM)
        for term in terms[1:]:
            piece, strength = self._piece(term)
            if isinstance(term, (Add, Sum)) or (strength == _SUM and not piece.startswith("-")):
                piece = f"({piece})"
            text += f" - {piece[1:]}" if piece.startswith("-") else f" + {piece}"
        return text

    def _product(self, left: Expression, right: Expression, operator: str) -> _Piece:
        first = self._at(left, _PRODUCT)
        second = self._at(right, _POSTFIX)
        sign = f" {operator} " if operator in ("⊗", "·") else "" if second.startswith("(") else " "
        if sign == "" and isinstance(left, Apply):
            sign = " "
        if second[:1].isdigit():
            sign = " · "
        return f"{first}{sign}{second}", _PRODUCT

    def _quotient(self, over: Expression, under: Expression) -> _Piece:
        return f"{self._at(over, _PRODUCT)}/{self._at(under, _POSTFIX)}", _PRODUCT

    def _power(self, base: Expression, exponent: Expression) -> _Piece:
        text = self._at(base, _ATOM)
        above = self.write(exponent)
        return f"{text}^{above}" if len(above) == 1 else f"{text}^({above})", _POSTFIX

    def _pseudo_inverse(self, of: Expression) -> _Piece:
        return f"{self._base(of)}⁺", _POSTFIX

    def _applied(self, applied: Apply) -> str:
        inner = ", ".join(self.write(argument) for argument in applied.arguments)
        if applied.function == "norm":
            return f"‖{inner}‖"
        if applied.function == "abs":
            return f"|{inner}|"
        below = "" if applied.below is None else f"_{self._at(applied.below, _ATOM)}"
        axis = "" if applied.axis is None else f", axis={applied.axis}"
        return f"{applied.function}{below}({inner}{axis})"

    def _big_sum(self, domain: Domain) -> str:
        if domain.only:
            return f"Σ_{{{domain.index}∈{{{','.join(domain.only)}}}}}"
        if domain.without:
            return f"Σ_{{{domain.index}≠{','.join(domain.without)}}}"
        low = f"={domain.low}" if domain.low else ""
        high = f"^{{{domain.high}}}" if domain.high else ""
        return f"Σ_{{{domain.index}{low}}}{high}"


class _Latex(_Plain):
    _transpose = "^\\top"

    def _number(self, value: Fraction) -> _Piece:
        if value.denominator == 1:
            return super()._number(value)
        sign = "-" if value < 0 else ""
        return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", _ATOM if value > 0 else _SUM

    def _constant(self, name: str) -> str:
        return {"∞": "\\infty", "π": "\\pi"}.get(name, name)

    def _symbol(self, symbol: Symbol) -> str:
        name = f"\\{_NAMES[symbol.name]}" if symbol.name in _NAMES else symbol.name
        if symbol.mark:
            name = f"\\hat{{{name}}}"
        below = "" if not symbol.index else f"_{{{','.join(symbol.index)}}}"
        return f"{name}{below}" if below or not name.startswith("\\") else f"{name} "

    def _identity(self, size: str) -> str:
        return f"I_{{{size}}}" if size else "I"

    def _quotient(self, over: Expression, under: Expression) -> _Piece:
        return f"\\frac{{{self.write(over)}}}{{{self.write(under)}}}", _ATOM

    def _product(self, left: Expression, right: Expression, operator: str) -> _Piece:
        sign = {"⊗": " \\otimes ", "·": " \\cdot ", "*": " \\cdot ", "@": " "}.get(operator, " ")
        first, second = self._at(left, _PRODUCT), self._at(right, _POSTFIX)
        if second[:1].isdigit():
            sign = " \\cdot "
        return f"{first}{sign}{second}", _PRODUCT

    def _power(self, base: Expression, exponent: Expression) -> _Piece:
        return f"{self._at(base, _ATOM)}^{{{self.write(exponent)}}}", _POSTFIX

    def _pseudo_inverse(self, of: Expression) -> _Piece:
        return f"{self._base(of)}^{{+}}", _POSTFIX

    def _applied(self, applied: Apply) -> str:
        inner = ", ".join(self.write(argument) for argument in applied.arguments)
        match applied.function:
            case "norm":
                return f"\\|{inner}\\|"
            case "abs":
                return f"\\left|{inner}\\right|"
            case "sqrt":
                return f"\\sqrt{{{inner}}}"
        name = f"\\{applied.function}" if applied.function in ("exp", "log", "max", "min", "tanh") else ""
        name = name or f"\\operatorname{{{applied.function}}}"
        below = "" if applied.below is None else f"_{{{self.write(applied.below)}}}"
        return f"{name}{below}\\left({inner}\\right)"

    def _big_sum(self, domain: Domain) -> str:
        if domain.only:
            return f"\\sum_{{{domain.index} \\in \\{{{', '.join(domain.only)}\\}}}}"
        if domain.without:
            return f"\\sum_{{{domain.index} \\neq {', '.join(domain.without)}}}"
        return super()._big_sum(domain).replace("Σ", "\\sum")


class _Numpy(_Plain):
    _transpose = ".T"

    def _constant(self, name: str) -> str:
        return {"∞": "np.inf", "π": "np.pi", "e": "np.e"}[name]

    def _symbol(self, symbol: Symbol) -> str:
        name = _NAMES.get(symbol.name, symbol.name)
        return f"{name}_{','.join(symbol.index)}" if symbol.index else name

    def _identity(self, size: str) -> str:
        return f"np.eye({size})" if size else "I"

    def _product(self, left: Expression, right: Expression, operator: str) -> _Piece:
        if operator == "⊗":
            return f"np.outer({self.write(left)}, {self.write(right)})", _ATOM
        sign = " @ " if operator == "@" else " * "
        return f"{self._at(left, _PRODUCT)}{sign}{self._at(right, _POSTFIX)}", _PRODUCT

    def _power(self, base: Expression, exponent: Expression) -> _Piece:
        return f"{self._at(base, _ATOM)}**({self.write(exponent)})", _POSTFIX

    def _pseudo_inverse(self, of: Expression) -> _Piece:
        return f"np.linalg.pinv({self.write(of)})", _ATOM

    def _applied(self, applied: Apply) -> str:
        inner = ", ".join(self.write(argument) for argument in applied.arguments)
        if applied.function == "norm":
            return f"np.linalg.norm({inner})"
        below = "" if applied.below is None else f"_{self._at(applied.below, _ATOM)}"
        axis = "" if applied.axis is None else f", axis={applied.axis}"
        name = applied.function
        return f"{name if name in ('softmax', 'logistic', 'σ') else 'np.' + name}{below}({inner}{axis})"
