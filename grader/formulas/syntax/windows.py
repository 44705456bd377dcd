"""Sums over neighbours, term by term: Σ from l = j−1 to j+1 of v_l is v_{j−1} + v_j + v_{j+1}."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from grader.formulas.syntax.expressions import Add, Domain, Expression, Sum, Symbol, rebuilt, symbols_in
from grader.formulas.typing.vocabulary import Vocabulary

_BOUND = re.compile(r"([^\W\d]*)([+-]?\d{1,2})?")
_TERM = re.compile(r"([+-]?)([^\W\d]|\d+)")
_WIDEST = 12  # neighbours on each side; more are a sum like any other


def window_written_out(found: Sum, vocabulary: Vocabulary) -> Expression:
    """The terms of a sum whose bounds hang on another index, or that runs over offsets; else the sum itself."""
    terms = _terms(found, vocabulary) or _terms(_turned(found), vocabulary)
    if not terms:
        return found
    return Add(tuple(terms)) if len(terms) > 1 else terms[0]


def _turned(found: Sum) -> Sum:
    """|j − l| ≤ 1 in place of |l − j| ≤ 1: the index is the one that the body has."""
    low, high = _bound(found.domain.low)[0], _bound(found.domain.high)[0]
    index = found.domain.index
    if not low or low != high or any(index in label for one in symbols_in(found.body) for label in one.index):
        return found
    first, last = (bound.replace(low, index, 1) for bound in (found.domain.low, found.domain.high))
    return Sum(Domain(low, first, last), found.body)


def _terms(found: Sum, vocabulary: Vocabulary) -> list[Expression]:
    domain = found.domain
    uses = [one for one in symbols_in(found.body) if any(domain.index in label for label in one.index)]
    if not uses or any(vocabulary.find(one.name, one.index) is None for one in uses):
        return []  # what is summed is not known term by term: weights w_{l−j} that nobody gave
    places = list(_places(domain, {label for one in uses for label in one.index}))
    terms = [_at(found.body, domain.index, *place) for place in places]
    return [term for term in terms if term is not None] if None not in terms else []


def _places(domain: Domain, labels: set[str]) -> Iterator[tuple[str, int]]:
    """Each value of the index, as another index and an offset from it."""
    if any("+" in label or "-" in label for label in domain.only):
        yield from (_bound(label) for label in domain.only)
        return
    (low, first), (high, last) = _bound(domain.low), _bound(domain.high)
    offsets = not low and any(len(label) > 1 for label in labels)  # v_{j+δ}
    if (
        not (domain.low and domain.high)
        or domain.without
        or low != high
        or not (low or offsets)
        or not 0 <= last - first <= 2 * _WIDEST
    ):
        return
    yield from ((low, offset) for offset in range(first, last + 1))


def _bound(text: str) -> tuple[str, int]:
    """The letter of a bound and what is added to it."""
    found = _BOUND.fullmatch(text)
    return (found[1], int(found[2] or 0)) if found else ("", 0)


def _at(body: Expression, index: str, base: str, offset: int) -> Expression | None:
    """The body with one value put in for the index; nothing if an index cannot be reckoned out."""
    reckoned = {
        one: tuple(_reckoned(label, index, base, offset) if index in label else label for label in one.index)
        for one in symbols_in(body)
    }
    if any("" in labels for labels in reckoned.values()):
        return None

    def put_in(part: Expression) -> Expression:
        return replace(part, index=reckoned[part]) if isinstance(part, Symbol) else part

    return rebuilt(body, put_in)


def _reckoned(label: str, index: str, base: str, offset: int) -> str:
    """j+δ with δ = −1 is j−1; empty if more than one letter is left."""
    letters: dict[str, int] = {}
    total = 0
    terms = list(_TERM.finditer(label))
    if "".join(term[0] for term in terms) != label or any(not term[1] for term in terms[1:]):
        return ""
    for term in terms:
        sign = -1 if term[1] == "-" else 1
        if term[2].isdigit():
            total += sign * int(term[2])
            continue
        name = base if term[2] == index else term[2]
        total += sign * offset if term[2] == index else 0
        if name:
            letters[name] = letters.get(name, 0) + sign
    left = {name: count for name, count in letters.items() if count}
    if not left:
        return str(total)
    (name, count), *others = left.items()
    return "" if others or count != 1 else name + (f"{total:+d}" if total else "")
