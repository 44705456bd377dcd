"""One way of writing for formulas that are the same thing, so that answers can be put together for a person.

Products are multiplied out, numbers gathered, terms sorted; matrices and vectors keep their order. Where a question
leaves a scale open, free letters get fixed names and a positive factor is left out. No verdict rests on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import gcd, lcm

from grader.formulas.answer.growth_claims import GrowthClaim
from grader.formulas.syntax.expressions import (
    Add,
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
    rebuilt,
    walk,
)
from grader.formulas.syntax.writer import plain
from grader.formulas.typing.vocabulary import SCALAR, Vocabulary

_MAX_TERMS = 60  # an answer has a handful; beyond, it is left as it was written
_MAX_POWER = 4  # to which a sum is multiplied out
_MAX_DIGITS = 40  # of a number
_NAMES = ("β", "γ", "δ")  # for the free letters of a question that leaves the scale open

_Letters = tuple[tuple[str, Fraction], ...]  # numbers that have names, with their exponents, sorted
_Word = tuple[str, ...]  # matrices and vectors, in order
_Terms = dict[tuple[_Letters, _Word], Fraction]


def canonical(expression: Expression, vocabulary: Vocabulary) -> str:
    """With the letters it has."""
    return _written(expression, _numbers_of(expression, vocabulary), scale=())


def canonical_up_to_scale(expression: Expression, vocabulary: Vocabulary, claims: Mapping[Symbol, GrowthClaim]) -> str:
    """With fixed names for its free letters, and without a factor where a letter that grows stands before all of it."""
    free = list(claims)
    if not 0 < len(free) <= len(_NAMES):
        return canonical(expression, vocabulary)
    numbers = _numbers_of(expression, vocabulary)
    return min(
        _named(expression, numbers, dict(zip(order, _NAMES, strict=False)), claims) for order in permutations(free)
    )


def _named(
    expression: Expression,
    numbers: Collection[Symbol],
    names: Mapping[Symbol, str],
    claims: Mapping[Symbol, GrowthClaim],
) -> str:
    renamed = rebuilt(
        expression, lambda part: Symbol(names[part]) if isinstance(part, Symbol) and part in names else part
    )
    grows = tuple(name for symbol, name in names.items() if _grows(claims[symbol]))
    told = [f"{name} {_told(claims[symbol])}" for symbol, name in names.items() if not _grows(claims[symbol])]
    known = {*numbers, *map(Symbol, names.values())}
    return "; ".join([_written(renamed, known, scale=grows), *told])


def _grows(claim: GrowthClaim) -> bool:
    return claim.growth != "small" and claim.sign != "−"


def _told(claim: GrowthClaim) -> str:
    return " and ".join(filter(None, (claim.growth, "negative" if claim.sign == "−" else "")))


def _numbers_of(expression: Expression, vocabulary: Vocabulary) -> set[Symbol]:
    """The symbols that stand for numbers: those nobody declared, sizes, and what is declared as one."""
    found = set(vocabulary.free(expression))
    for part in walk(expression):
        if isinstance(part, Symbol):
            declared = vocabulary.find(part.name, part.index)
            if part.name in vocabulary.dimensions or (declared is not None and declared[0].shape == SCALAR):
                found.add(part)
    return found


class _TooLong(Exception):
    """It is left as it was written."""


def _written(expression: Expression, numbers: Collection[Symbol], *, scale: Sequence[str]) -> str:
    try:
        terms = _Expansion(numbers).terms(expression)
    except _TooLong:
        return plain(_without_signs(expression))
    return _text(*_factored(terms, scale))


class _Expansion:
    def __init__(self, numbers: Collection[Symbol]) -> None:
        self._numbers = numbers

    def terms(self, expression: Expression) -> _Terms:
        match expression:
            case Number(value):
                return {((), ()): value} if value else {}
            case Symbol() if expression in self._numbers:
                return _letter(str(expression))
            case Constant(name):
                return _letter(name)
            case Symbol():
                return {((), (str(expression),)): Fraction(1)}
            case Identity():
                return {((), ("I",)): Fraction(1)}
            case Add(parts):
                return _sum(map(self.terms, parts))
            case Sum(domain, body) if domain.only:
                return _sum(self.terms(_at(body, domain.index, label)) for label in domain.only)
            case Multiply(left, right, operator) if operator not in ("⊗", "∘"):
                return _product(self.terms(left), self.terms(right))
            case Divide(over, under):
                return _product(self.terms(over), self._to(under, Fraction(-1)))
            case Power(base, Number(exponent)):
                return self._to(base, exponent)
            case Transpose(of):
                return _sum({(letters, _turned(word)): value} for (letters, word), value in self.terms(of).items())
        return self._as_it_is(expression)

    def _to(self, base: Expression, exponent: Fraction) -> _Terms:
        inner = self.terms(base)
        if len(inner) == 1:
            (((letters, word), value),) = inner.items()
            raised = tuple((name, power * exponent) for name, power in letters if exponent)
            if not word and exponent.denominator == 1 and abs(exponent) <= _MAX_DIGITS:
                return {(raised, ()): _bounded(value ** int(exponent))}
            if not word and value == 1:
                return {(raised, ()): Fraction(1)}
        if exponent.denominator == 1 and 1 <= exponent <= _MAX_POWER:
            product: _Terms = {((), ()): Fraction(1)}
            for _ in range(int(exponent)):
                product = _product(product, inner)
            return product
        return self._as_it_is(Power(base, Number(exponent)))

    def _as_it_is(self, expression: Expression) -> _Terms:
        text = plain(_without_signs(expression))
        symbols = [part for part in walk(expression) if isinstance(part, Symbol | Identity)]
        if all(part in self._numbers for part in symbols):
            return _letter(text)
        return {((), (text,)): Fraction(1)}


def _letter(name: str) -> _Terms:
    return {(((name, Fraction(1)),), ()): Fraction(1)}


def _sum(parts: Iterable[_Terms]) -> _Terms:
    total: _Terms = {}
    for part in parts:
        for key, value in part.items():
            total[key] = _bounded(total.get(key, Fraction(0)) + value)
    return _kept(total)


def _product(left: _Terms, right: _Terms) -> _Terms:
    if len(left) * len(right) > _MAX_TERMS:
        raise _TooLong
    total: _Terms = {}
    for (letters, word), value in left.items():
        for (others, behind), times in right.items():
            powers = dict(letters)
            for name, power in others:
                powers[name] = powers.get(name, Fraction(0)) + power
            kept = tuple(sorted((name, power) for name, power in powers.items() if power))
            key = (kept, _joined(word, behind))
            total[key] = _bounded(total.get(key, Fraction(0)) + value * times)
    return _kept(total)


def _joined(word: _Word, behind: _Word) -> _Word:
    """The identity changes nothing."""
    joined = (*word, *behind)
    return tuple(one for one in joined if one != "I") or joined[:1]


def _kept(terms: _Terms) -> _Terms:
    if len(terms) > _MAX_TERMS:
        raise _TooLong
    return {key: value for key, value in terms.items() if value}


def _bounded(value: Fraction) -> Fraction:
    if max(abs(value.numerator), value.denominator) >= 10**_MAX_DIGITS:
        raise _TooLong
    return value


def _turned(word: _Word) -> _Word:
    return tuple(
        one if one == "I" else one.removesuffix("ᵀ") if one.endswith("ᵀ") else f"{one}ᵀ" for one in reversed(word)
    )


def _at(body: Expression, index: str, label: str) -> Expression:
    """A term of a sum, with the label in place of its index."""

    def named(part: Expression) -> Expression:
        if isinstance(part, Symbol) and index in part.index:
            return replace(part, index=tuple(label if one == index else one for one in part.index))
        return part

    return rebuilt(body, named)


def _without_signs(expression: Expression) -> Expression:
    """A dot, a star and numpy's @ mean what juxtaposition means."""
    return rebuilt(
        expression,
        lambda part: (
            replace(part, operator="") if isinstance(part, Multiply) and part.operator in ("·", "*", "@") else part
        ),
    )


def _factored(terms: _Terms, scale: Sequence[str]) -> tuple[Fraction, _Letters, _Terms]:
    """What stands before all terms: a positive number and letters; both are one letter where it only sets the scale."""
    if not terms:
        return Fraction(0), (), {}
    number = Fraction(gcd(*(value.numerator for value in terms.values())), 1)
    number /= lcm(*(value.denominator for value in terms.values()))
    first, *others = (dict(letters) for letters, _ in terms)
    common = {name: power for name, power in first.items() if all(other.get(name) == power for other in others)}
    rest = {
        (tuple(pair for pair in letters if pair[0] not in common), word): value / number
        for (letters, word), value in terms.items()
    }
    used = {name for letters, _ in rest for name, _ in letters}
    sets_scale = [name for name, power in common.items() if name in scale and power > 0]
    if sets_scale and not used & set(scale):
        common = {name: power for name, power in common.items() if not _is_positive(name, scale)}
        return Fraction(1), tuple(sorted({**common, scale[0]: Fraction(1)}.items())), rest
    return number, tuple(sorted(common.items())), rest


def _is_positive(name: str, scale: Sequence[str]) -> bool:
    """Sizes, roots and exponentials are; of the free letters those that grow."""
    return name in scale or name.startswith(("sqrt(", "exp(")) or (name.isalpha() and name not in _NAMES)


def _text(number: Fraction, letters: _Letters, terms: _Terms) -> str:
    if not terms:
        return "0"
    inner = [_term(value, own, word) for (own, word), value in sorted(terms.items(), key=_order)]
    sum_ = inner[0] + "".join(f" - {one[1:]}" if one.startswith("-") else f" + {one}" for one in inner[1:])
    before = " ".join([*([str(number)] if number != 1 else []), *map(_raised, letters)])
    if not before:
        return sum_
    if sum_ == "1":
        return before
    return f"{before}({sum_})" if len(inner) > 1 or sum_.startswith("-") else f"{before} {sum_}"


def _order(entry: tuple[tuple[_Letters, _Word], Fraction]) -> tuple[_Word, _Letters]:
    (letters, word), _ = entry
    return word, letters


def _term(value: Fraction, letters: _Letters, word: _Word) -> str:
    named = " ".join([*map(_raised, letters), *word])
    if not named:
        return str(value)
    return named if value == 1 else f"-{named}" if value == -1 else f"{value} {named}"


def _raised(letter: tuple[str, Fraction]) -> str:
    name, power = letter
    return name if power == 1 else f"{name}^{power}" if power.denominator == 1 and power > 0 else f"{name}^({power})"
