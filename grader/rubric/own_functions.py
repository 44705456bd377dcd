"""`@reference` and `@inputs`: functions of a rubric's own `checks` that its checks name.

    @reference(mistakes={"the penalty is left out": least_squares})
    def ridge(X, y, lam): ...

    @inputs
    def regressions(rng): ...  # yields cases

A reference is an answer: no kit holds it, or anything that refers to it. Inputs go into a kit if they lie in
`public/`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Literal, TypeVar

_MARK = "__offered_to_rubrics__"
Kind = Literal["reference", "inputs", "adapter"]
Mistaken = tuple[str, Callable[..., Any]]  # what it looks like, and what gives such values
Mistakes = Mapping[str, Callable[..., Any] | Sequence[Callable[..., Any]]]
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Offer:
    """A function that a rubric may name."""

    kind: Kind
    function: Callable[..., Any]
    mistakes: tuple[Mistaken, ...] = ()  # of a reference
    on_squares: tuple[Mistaken, ...] = ()
    at_extremes: tuple[Mistaken, ...] = ()
    pairs: Callable[[], Iterable[Mistaken]] = tuple
    simpler: Callable[..., Iterator[Any]] | None = None  # of inputs


class OfferedName(str):
    """A name in a rubric, with what it names."""

    offer: Offer

    def __new__(cls, name: str, offer: Offer) -> OfferedName:
        made = super().__new__(cls, name)
        made.offer = offer
        return made


def reference(
    function: _Function | None = None,
    *,
    mistakes: Mistakes | None = None,
    on_squares: Mistakes | None = None,
    at_extremes: Mistakes | None = None,
    pairs: Callable[[], Iterable[Mistaken]] = tuple,
) -> Any:
    """The right function, for `reference:` in the rubric. `mistakes` gives classic wrong ones by what they look like:
    "it looks as if …". Those `on_squares` crash unless all sides are equal, those `at_extremes` show only where scores
    are huge, and `pairs` yields two made together."""
    usual, squares, extremes = (_each(table or {}) for table in (mistakes, on_squares, at_extremes))
    return _offered(Offer("reference", _unknown, usual, squares, extremes, pairs), function)


def _each(table: Mistakes) -> tuple[Mistaken, ...]:
    several = {text: (one,) if callable(one) else tuple(one) for text, one in table.items()}
    return tuple((text, one) for text, those in several.items() for one in those)


def inputs(function: _Function | None = None, *, simpler: Callable[..., Iterator[Any]] | None = None) -> Any:
    """A generator of cases, for `inputs:` in the rubric: `(rng) -> Iterator[Case]`, with further parameters where the
    rubric has `given`. `simpler` helps to tell why a function crashes on them: `(rng)` yields a circumstance ("where
    all matrices are square"), what to look at if the function is right there ("which side is which"), and a case."""
    return _offered(Offer("inputs", _unknown, simpler=simpler), function)


def _offered(offer: Offer, function: _Function | None) -> Any:
    def mark(marked: _Function) -> _Function:
        if offer.kind == "inputs" and not inspect.isgeneratorfunction(marked):
            raise TypeError(f"{marked.__name__} should yield cases")
        setattr(marked, _MARK, replace(offer, function=marked))
        return marked

    return mark if function is None else mark(function)


def _unknown(*_: Any) -> Any:
    raise AssertionError("an offer is made of a function")


def offers_in(modules: Iterable[ModuleType], kind: Kind) -> dict[str, Offer]:
    """What of this kind these modules offer, by name."""
    found: dict[str, Offer] = {}
    for module in modules:
        for value in list(vars(module).values()):
            offer = getattr(value, _MARK, None)
            if isinstance(offer, Offer) and offer.kind == kind and value.__module__ == module.__name__:
                found[value.__name__] = offer
    return found


def offers_among(context: Mapping[str, Any] | None, kind: Kind) -> Mapping[str, Offer]:
    """What the rubric that is being read offers; for a validator."""
    catalogue = (context or {}).get("catalogue")
    return catalogue.offers(kind) if catalogue is not None else {}


def offered(value: Any, kind: Kind) -> Offer | None:
    """What a parameter of a check names of the rubric's own; None if it names something of the grader's."""
    return value.offer if isinstance(value, OfferedName) and value.offer.kind == kind else None
