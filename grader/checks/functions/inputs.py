"""Inputs that checks sample: rectangular, of many sizes, in both precisions, so that no mistake can hide in a square;
and what a student's function returns for them, as numbers; if it returns none, for which."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, ValidationInfo

from grader.compare import Array, numbers, shape
from grader.errors import Crashed, NotImportable, WrongKind
from grader.model import Student
from grader.rubric.hints import did_you_mean
from grader.rubric.own_functions import Offer, OfferedName, offered, offers_among

Tokens = Literal["columns", "rows"]
Scale = Literal["argument", "1/sqrt(d)"]
_SIDE = 6


def _existing_adapter(name: str, info: ValidationInfo) -> str:
    own = offers_among(info.context, "adapter")
    if name not in own:
        raise ValueError(f"names no function of the rubric's own probes.py: '{name}'{did_you_mean(name, own)}")
    return OfferedName(name, own[name])


Through = Annotated[str, AfterValidator(_existing_adapter)] | None


@dataclass(frozen=True)
class Case:
    """One set of arguments. `label` says what kind of input it is, without its values."""

    label: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()  # of the arguments, as the assignment writes them
    build: dict[str, Any] = field(default_factory=dict)  # of a module: what its constructor is called with, by name
    parameters: dict[str, Array] = field(default_factory=dict)  # of a module: what it computes with, by role

    def __post_init__(self) -> None:
        """The reference and every mistake get the same arrays, so none may write into them."""
        for value in (*self.args, *self.kwargs.values()):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def question(self, function: str, through: Through = None) -> dict[str, Any]:
        """The call of a student's function with these arguments, by the rubric's adapter if there is one."""
        adapter = offered(through, "adapter")
        by = {"through": adapter.function} if adapter else {}
        return {"function": function, "args": list(self.args), "kwargs": self.kwargs, **by}

    def arguments(self) -> dict[str, Any]:
        """All of them by name; by number where they have none."""
        numbered = (f"argument number {number}" for number in range(1, len(self.args) + 1))
        return dict(zip(self.names or numbered, self.args, strict=True)) | self.kwargs


class Cases(tuple[Case, ...]):
    """Those that a check asks about in one go."""

    def questions(self, function: str, through: Through = None) -> list[dict[str, Any]]:
        """The calls of a student's function with these arguments."""
        return [case.question(function, through) for case in self]


@dataclass(frozen=True)
class AttentionCall:
    """How an assignment has attention called: tokens are columns or rows, the scale β is an argument or 1/√d."""

    tokens: Tokens = "columns"
    scale: Scale = "argument"

    def beta(self, d: int, beta: float) -> float:
        return beta if self.scale == "argument" else d**-0.5

    def case(self, label: str, Q: Array, K: Array, V: Array, beta: float) -> Case:
        """Of matrices with tokens in columns. In the label stand `{Q}`, `{K}`, `{V}` for sizes and `{beta}` for β."""
        matrices = [matrix.T.copy() for matrix in (Q, K, V)] if self.tokens == "rows" else [Q, K, V]
        shapes = {name: f"{name} {shape(matrix.shape)}" for name, matrix in zip("QKV", matrices, strict=True)}
        args = (*matrices, beta) if self.scale == "argument" else tuple(matrices)
        scale = f", β = {beta:g}" if self.scale == "argument" else ""
        return Case(label.format(**shapes, beta=scale), args, names=("Q", "K", "V", "beta")[: len(args)])

    def columns(self, matrix: Array) -> Array:
        """With tokens in columns."""
        return matrix.T if self.tokens == "rows" else matrix

    def random(self, rng: np.random.Generator) -> Iterator[Case]:
        """Q, K and V of many sizes, in both precisions."""
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
            for size, beta in zip(sizes, betas.tolist(), strict=True):
                yield self._of_size(rng, size, beta, precision)

    def square(self, rng: np.random.Generator) -> Iterator[tuple[str, str, Case]]:
        """What to look at if it is right there."""
        yield "where all matrices are square", "which side is which", self._of_size(rng, (_SIDE,) * 4, 0.7, np.float64)

    def _of_size(
        self, rng: np.random.Generator, sizes: tuple[int, int, int, int], beta: float, precision: type[np.floating[Any]]
    ) -> Case:
        d, n, m, t = sizes
        Q, K, V = (rng.normal(size=size).astype(precision) for size in ((d, n), (d, m), (t, m)))
        return self.case(f"{{Q}}, {{K}}, {{V}}{{beta}}, {precision.__name__}", Q, K, V, self.beta(d, beta))


# For `attention(Q, K, V, beta)`; for `attention(Q, K, V)`, where the scale is 1/√d, they are called scaled.
_CALLS = {
    "column_attention": AttentionCall(),
    "row_attention": AttentionCall("rows"),
    "scaled_column_attention": AttentionCall("columns", "1/sqrt(d)"),
    "scaled_row_attention": AttentionCall("rows", "1/sqrt(d)"),
}
INPUTS = {name: Offer("inputs", call.random, simpler=call.square) for name, call in _CALLS.items()}


def sampled(inputs: str, rng: np.random.Generator, given: Mapping[str, Any] | None = None) -> Iterator[Case]:
    """Cases of the generator of this name, the rubric's own or one of ours; `given` goes to one of its own."""
    cases: Iterator[Case] = _generator(inputs).function(rng, **given or {})
    return cases


def simpler_than(inputs: str, rng: np.random.Generator) -> Iterator[tuple[str, str, Case]]:
    """Under which circumstances, what is at fault if it is right there, and such a case."""
    simpler = _generator(inputs).simpler
    return simpler(rng) if simpler else iter(())


def _generator(inputs: str) -> Offer:
    return offered(inputs, "inputs") or INPUTS[inputs]


def takes_what_is_given(parameters: Mapping[str, Any]) -> str:
    """Why the generator of inputs cannot have what a rubric gives it; nothing, if it can."""
    given, own = parameters["given"], offered(parameters["inputs"], "inputs")
    if own is None:
        return f"{parameters['inputs']} takes nothing that is 'given'" if given else ""
    _, *known = inspect.signature(own.function).parameters.values()
    names = [parameter.name for parameter in known]
    unknown = [name for name in given if name not in names]
    required = [parameter.name for parameter in known if parameter.default is parameter.empty]
    missing = [name for name in required if name not in given]
    if unknown:
        return f"{parameters['inputs']} takes no '{unknown[0]}'{did_you_mean(unknown[0], names)}"
    return f"{parameters['inputs']} needs '{missing[0]}' among what is 'given'" if missing else ""


def _existing_inputs(name: str, info: ValidationInfo) -> str:
    own = offers_among(info.context, "inputs")
    if name in own:
        return OfferedName(name, own[name])
    if name not in INPUTS:
        raise ValueError(f"names no kind of input: '{name}'{did_you_mean(name, [*INPUTS, *own])}")
    return name


Inputs = Annotated[str, AfterValidator(_existing_inputs)]


def returned_for_each(
    student: Student, file: str, function: str, cases: Cases, through: Through = None
) -> Iterator[Array]:
    """What it returns for each case, one after the other."""
    answers = student.probe_each("call", file, cases.questions(function, through))

    def returned(case: Case) -> Array:
        with blamed_on(case):
            return numbers(next(answers), f"{function}()")

    return map(returned, cases)


@contextmanager
def blamed_on(case: Case) -> Iterator[None]:
    """A fault says with which kind of input it came; a file that cannot be imported was given none."""
    try:
        yield
    except NotImportable:
        raise
    except (Crashed, WrongKind) as fault:
        raise fault.given(case.label) from None
