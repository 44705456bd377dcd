"""Dots filled in: t_1 + t_2 + … + t_m is a sum."""

from __future__ import annotations

from grader.formulas.lexing.tokens import Unreadable
from grader.formulas.syntax.expressions import Add, Constant, Domain, Expression, Sum, Symbol, rebuilt, symbols_in, walk

ELLIPSIS = Constant("…")
_INDEX = "i"
_MAX_TERMS_BEFORE = 3
_UNFILLED = "the dots stand where they cannot be filled in; write a sum"


def ellipses_filled(expression: Expression) -> Expression:
    """Each sum with dots as one over the index in which its first and last term differ."""
    filled = rebuilt(expression, _filled)
    if any(part == ELLIPSIS for part in walk(filled)):
        raise Unreadable(_UNFILLED)
    return filled


def _filled(part: Expression) -> Expression:
    if not (isinstance(part, Add) and ELLIPSIS in part.terms):
        return part
    *before, dots, last = part.terms
    if dots != ELLIPSIS or ELLIPSIS in before or not 1 <= len(before) <= _MAX_TERMS_BEFORE:
        raise Unreadable(_UNFILLED)
    low, high = _differing(before[0], last)
    body = _with_index(before[0], low, _INDEX)
    for number, term in enumerate(before):
        step = str(int(low) + number) if low.isdecimal() else low
        if _with_index(body, _INDEX, step) != term:
            raise Unreadable("the terms before the dots do not follow one pattern; write a sum")
    if _with_index(body, _INDEX, high) != last:
        raise Unreadable("the term after the dots does not follow the pattern; write a sum")
    return Sum(Domain(_INDEX, low, high), body)


def _differing(first: Expression, last: Expression) -> tuple[str, str]:
    """The one index that changes from the first term to the last."""
    pairs = {
        (one.index[0], other.index[0])
        for one, other in zip(symbols_in(first), symbols_in(last), strict=False)
        if one.index and other.index and one.name == other.name and one.index != other.index
    }
    if len(pairs) != 1:
        raise Unreadable(_UNFILLED)
    return pairs.pop()


def _with_index(term: Expression, old: str, new: str) -> Expression:
    def changed(part: Expression) -> Expression:
        if isinstance(part, Symbol) and part.index == (old,):
            return Symbol(part.name, (new,), part.mark)
        return part

    return rebuilt(term, changed)
