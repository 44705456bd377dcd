"""Inputs that checks draw: rectangular, of many sizes, in both precisions, so that no mistake can hide in a square."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ValidationInfo

from grader.compare import shape
from grader.rubric.hints import did_you_mean
from grader.rubric.own_functions import Offer, OfferedName, offered, offers_among

Array = NDArray[Any]


_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Case:
    """One set of arguments. `label` says what kind of input it is, without its values."""

    label: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()  # of the arguments, as the assignment writes them
    _found: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Many share a case, so nobody may write into it."""
        for value in (*self.args, *self.kwargs.values()):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def once(self, key: Any, find: Callable[[], _Found]) -> _Found:
        """What was found about this case under this key before, or is found now."""
        if key not in self._found:
            self._found[key] = find()
        found: _Found = self._found[key]
        return found

    def question(self, function: str) -> dict[str, Any]:
        """The call of a student's function with these arguments."""
        return {"function": function, "args": list(self.args), "kwargs": self.kwargs}

    def arguments(self) -> dict[str, Any]:
        """All of them by name; by number where they have none."""
        numbered = (f"argument number {number}" for number in range(1, len(self.args) + 1))
        return dict(zip(self.names or numbered, self.args, strict=True)) | self.kwargs


class Cases(tuple[Case, ...]):
    """Those that a check asks about in one go."""

    def questions(self, function: str) -> list[dict[str, Any]]:
        """The calls of a student's function with these arguments."""
        return [case.question(function) for case in self]


QKV = ("Q", "K", "V", "beta")
_SIDE = 6


def column_attention(rng: np.random.Generator) -> Iterator[Case]:
    """Q, K, V, beta for `attention(Q, K, V, beta)`: tokens in columns."""
    sizes = [
        (4, 3, 5, 2),
        (2, 6, 3, 4),
        (8, 5, 7, 3),
        (3, 1, 4, 2),
        (3, 4, 1, 2),
        (1, 2, 3, 1),
        (16, 9, 20, 6),
    ]
    for precision in (np.float64, np.float32):
        # Each β once: some that are no whole number, more and less than one, and one large enough to be cut short.
        betas = rng.permutation([0.25, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0])
        for (d, n, m, t), beta in zip(sizes, betas.tolist(), strict=True):
            yield attention_case(rng, (d, n, m, t), beta, precision)


Precision = type[np.floating[Any]]


def attention_case(
    rng: np.random.Generator, sizes: tuple[int, int, int, int], beta: float, precision: Precision = np.float64
) -> Case:
    d, n, m, t = sizes
    Q, K, V = (rng.normal(size=size).astype(precision) for size in ((d, n), (d, m), (t, m)))
    label = f"Q {shape(Q.shape)}, K {shape(K.shape)}, V {shape(V.shape)}, β = {beta:g}, {precision.__name__}"
    return Case(label, (Q, K, V, beta), names=QKV)


Maker = Callable[[np.random.Generator], Iterator[Case]]


def _square(rng: np.random.Generator) -> Iterator[tuple[str, str, Case]]:
    yield "where all matrices are square", "which side is which", attention_case(rng, (_SIDE,) * 4, 0.7)


INPUTS = {"column_attention": Offer("inputs", column_attention, simpler=_square)}


def all_cases(rng: np.random.Generator, maker: Maker) -> Cases:
    return Cases(maker(rng))


def maker_of(inputs: str, given: Mapping[str, Any] | None = None) -> Maker:
    """What draws the inputs of this name, the rubric's own or one of ours; `given` goes to one of its own."""
    own = offered(inputs, "inputs")
    if own is None:
        return INPUTS[inputs].function
    return _Given(own.function, tuple((given or {}).items())) if given else own.function


def simpler_than(inputs: str, rng: np.random.Generator) -> Iterator[tuple[str, str, Case]]:
    """Under which circumstances, what is at fault if it is right there, and such a case."""
    made = (offered(inputs, "inputs") or INPUTS[inputs]).simpler
    return made(rng) if made else iter(())


@dataclass(frozen=True)
class _Given:
    """A generator with what the rubric gives it; equal to another of the same, so that its inputs are drawn once."""

    function: Callable[..., Iterator[Case]]
    given: tuple[tuple[str, Any], ...]

    def __call__(self, rng: np.random.Generator) -> Iterator[Case]:
        return self.function(rng, **dict(self.given))


def takes_what_is_given(parameters: Mapping[str, Any]) -> str:
    """Why the generator of inputs cannot have what a rubric gives it; nothing, if it can."""
    given, own = parameters["given"], offered(parameters["inputs"], "inputs")
    if own is None:
        return f"{parameters['inputs']} takes nothing that is 'given'" if given else ""
    known = [*inspect.signature(own.function).parameters][1:]
    strange = [name for name in given if name not in known]
    missing = [
        name
        for name, one in list(inspect.signature(own.function).parameters.items())[1:]
        if one.default is one.empty and name not in given
    ]
    if strange:
        return f"{parameters['inputs']} takes no '{strange[0]}'{did_you_mean(strange[0], known)}"
    return f"{parameters['inputs']} needs '{missing[0]}' among what is 'given'" if missing else ""


def _known(name: str, info: ValidationInfo) -> str:
    own = offers_among(info.context, "inputs")
    if name in own:
        return OfferedName(name, own[name])
    if name not in INPUTS:
        raise ValueError(f"names no kind of input: '{name}'{did_you_mean(name, [*INPUTS, *own])}")
    return name


Inputs = Annotated[str, AfterValidator(_known)]
