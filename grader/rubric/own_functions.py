"""`@reference` and `@inputs`: functions of a rubric's own `checks.py` that its checks name.

    @reference(mistakes={"the penalty is left out": least_squares})
    def ridge(X, y, lam): ...

    @inputs(public=True)
    def regressions(rng): ...  # yields cases

A reference is an answer: no kit holds it, or anything that refers to it. Inputs go into a kit if they are public.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, TypeVar

_MARK = "__offered_to_rubrics__"
Kind = Literal["reference", "inputs"]
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Offer:
    """A function that a rubric may name."""

    kind: Kind
    function: Callable[..., Any]
    mistakes: tuple[tuple[str, Callable[..., Any]], ...] = ()  # of a reference: what it looks like, what gives it
    public: bool = False  # of inputs: students may have the code


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
    mistakes: Mapping[str, Callable[..., Any] | Sequence[Callable[..., Any]]] | None = None,
) -> Any:
    """The right function, for `reference:` in the rubric. `mistakes` gives classic wrong ones by what they look like:
    "it looks as if …"."""
    several = {text: (one,) if callable(one) else tuple(one) for text, one in (mistakes or {}).items()}
    known = tuple((text, one) for text, those in several.items() for one in those)
    return _offered(Offer("reference", _unknown, known), function)


def inputs(function: _Function | None = None, *, public: bool = False) -> Any:
    """A generator of cases, for `inputs:` in the rubric: `(rng) -> Iterator[Case]`, with further parameters where the
    rubric has `given`."""
    return _offered(Offer("inputs", _unknown, public=public), function)


def _offered(offer: Offer, function: _Function | None) -> Any:
    def mark(marked: _Function) -> _Function:
        if offer.kind == "inputs" and not inspect.isgeneratorfunction(marked):
            raise TypeError(f"{marked.__name__} should yield cases")
        setattr(marked, _MARK, Offer(offer.kind, marked, offer.mistakes, offer.public))
        return marked

    return mark if function is None else mark(function)


def _unknown(*_: Any) -> Any:
    raise AssertionError("an offer is made of a function")


def offers_in(modules: Iterable[ModuleType]) -> dict[str, dict[str, Offer]]:
    """What these modules offer, by kind and name."""
    found: dict[str, dict[str, Offer]] = {"reference": {}, "inputs": {}}
    for module in modules:
        for value in list(vars(module).values()):
            offer = getattr(value, _MARK, None)
            if isinstance(offer, Offer) and value.__module__ == module.__name__:
                found[offer.kind][value.__name__] = offer
    return found


def offered(value: Any, kind: Kind) -> Offer | None:
    """What a parameter of a check names of the rubric's own; None if it names something of the grader's."""
    return value.offer if isinstance(value, OfferedName) and value.offer.kind == kind else None
