"""A first look at a module, which asks little: its box draws its parameters, and all of a check is one question.

Only a pass may come of it. Whatever else there is to say of a module comes from the careful way, which asks one thing
after the other; so a first look that understands nothing costs time and no more. It believes only what is asked at
once of a module in which no call leaves a trace: then that is as good as asking one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod, sqrt
from typing import Any

import numpy as np

from grader.compare import Array, numbers
from grader.errors import Killed, StudentFault, TimedOut, WrongKind
from grader.kept_question import KeptQuestion, KeptQuestions
from grader.model import Student

Shapes = Mapping[str, tuple[int, ...]]
_MOST_NUMBERS = 1 << 20  # in a module's parameters; usual ones have ten thousand
_MOST_AXES = 32
_CLEAR = 1e-4  # a gradient this large shows influence; rounding leaves some 1e-16 where there is none


@dataclass(frozen=True)
class _Made:
    """The parameters of a module, in the order in which the student's code has made them."""

    shapes: dict[str, tuple[int, ...]]
    trainable: frozenset[str]
    buffers: tuple[str, ...]


@dataclass(frozen=True)
class FirstLook:
    """What a module made of one question."""

    made: _Made
    seed: int
    held: Mapping[str, Array]  # parameters that were not drawn
    outputs: list[Array]
    given: list[Array]
    gradients: dict[str, Array]
    input_gradient: Array | None
    moved: list[Array]
    changed: list[Array]
    single: Array | None  # in float32, for one input

    @cached_property
    def values(self) -> dict[str, Array]:
        """Its parameters, by the order of their names."""
        return {**parameters(self.seed, self.made.shapes), **self.held}

    def along(self, seed: int) -> float:
        """The slope that the gradients give in the direction that is drawn from this seed."""
        way = direction(seed, self.made.shapes)
        return float(sum((gradient * way[name]).sum() for name, gradient in self.gradients.items()))

    @cached_property
    def open(self) -> list[str]:
        """The parameters of which the gradients do not show that they have influence."""
        clear = {name for name, gradient in self.gradients.items() if np.abs(gradient).max(initial=0) > _CLEAR}
        return [name for name in self.made.shapes if name not in clear]


def question(name: str, arguments: Sequence[Any], seed: int, inputs: Sequence[Array], **more: Any) -> KeptQuestion:
    return KeptQuestion(name=name, config=list(arguments), seed=seed, inputs=list(inputs), **more)


def seed_for(rng: np.random.Generator) -> int:
    """Of parameters: who knows it learns nothing of what else the generator draws."""
    return int(rng.integers(1 << 62))


def apart(rng: np.random.Generator) -> np.random.Generator:
    """A generator for a first look, which leaves the careful way the numbers that it always drew."""
    (other,) = rng.spawn(1)
    return other


def looked(student: Student, file: str, asked: Sequence[KeptQuestion]) -> list[FirstLook] | None:
    """What came back, each answer by itself; None if anything is amiss, or any call could tell what came before it."""
    if not student.asks_together:
        return None
    questions = asked if isinstance(asked, KeptQuestions) else KeptQuestions(asked)
    answers = student.probe_each("run_drawn", file, questions)
    try:
        found = [_seen(one, next(answers)) for one in questions]
    except (TimedOut, Killed):
        raise
    except StudentFault as fault:  # which the careful way finds, too, and can say more of
        if _has_ended(student, file):
            raise fault from None
        return None
    return [one for one in found if one] if all(found) else None


def _has_ended(student: Student, file: str) -> bool:
    """Whether nothing can be asked any more. Then the check is tried again, in another box, without a first look: two
    questions are asked here, and answers to several are lost."""
    try:
        next(student.probe_each("latest_arguments", file, KeptQuestions([KeptQuestion(calls=1)] * 2)))
    except StudentFault:
        return True
    return False


def _seen(asked: KeptQuestion, reply: Any) -> FirstLook | None:
    match reply:
        case {
            "made": str(text),
            "outputs": list(outputs),
            "reached": list(reached),
            "gradients": gradients,
            "input_gradient": input_gradient,
            "moved": list(moved),
            "changed": list(changed),
            "given": list(given),
            "single": single,
            "steady": True,
        } if len(outputs) == len(asked["inputs"]) and all(isinstance(one, str) for one in reached):
            pass
        case _:
            return None
    wanted = len(asked.get("moves", ())), len(asked.get("changes", ()))
    if (len(moved), len(changed)) != wanted or len(given) != len(outputs) * bool(asked.get("watched")):
        return None
    if (made := _made(text)) is None or not set(reached) <= set(made.shapes):
        return None
    name = asked["name"]
    return FirstLook(
        made,
        asked["seed"],
        asked.get("parameters", {}),
        [numbers(one, name) for one in outputs],
        [numbers(one, name) for one in given],
        dict(_cut(numbers(gradients, name).reshape(-1), {key: made.shapes[key] for key in reached})) if reached else {},
        numbers(input_gradient, name) if input_gradient is not None else None,
        [numbers(one, name) for one in moved],
        [numbers(one, name) for one in changed],
        numbers(single, name) if single is not None else None,
    )


@lru_cache(maxsize=256)  # of one student's modules each is asked several times
def _made(text: str) -> _Made | None:
    """What a box says of a module's parameters, if it can be so. They are drawn here again, so there is a limit."""
    try:
        match json.loads(text):
            case [dict(shapes), list(trainable), list(buffers)]:
                pass
            case _:
                return None
    except (ValueError, RecursionError):
        return None
    if not all(map(_is_shape, shapes.values())) or sum(map(prod, shapes.values())) > _MOST_NUMBERS:
        return None
    if not all(isinstance(one, str) for one in (*trainable, *buffers)):
        return None
    sides = {name: tuple(shape) for name, shape in shapes.items()}
    return _Made(sides, frozenset(trainable), tuple(buffers))


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list) and len(shape) <= _MOST_AXES and all(type(side) is int and side >= 0 for side in shape)
    )


def parameters(seed: int, shapes: Shapes) -> dict[str, Array]:
    """What a box draws from this seed, likewise by the order of names: see `drawn_parameters.py` there.

    Random, because fresh ones hide mistakes: a bias of zero, a gain of one, weights that make attention flat.
    """
    return {key: _as_parameter(array) for key, array in direction(seed, shapes).items()}


def _as_parameter(normal: Array) -> Array:
    sides = [side for side in normal.shape if side > 1]
    if len(sides) < 2:
        return np.asarray(normal * 0.5 + 0.6)  # mostly positive, so that no gain is near zero everywhere
    return np.asarray(normal * (1.4 / sqrt(min(sides))))  # keeps scores near one: neither flat nor saturated


def direction(seed: int, shapes: Shapes) -> dict[str, Array]:
    """A step of one, normally distributed, for every parameter."""
    size = sum(map(prod, shapes.values()))
    return dict(_cut(np.random.default_rng(seed).standard_normal(size), shapes))


def _cut(row: Array, shapes: Shapes) -> Iterator[tuple[str, Array]]:
    """The tensors that lie in one row, in the order of their names."""
    ends = np.cumsum([prod(shapes[key]) for key in sorted(shapes)])
    if len(ends) and ends[-1] != row.size:
        raise WrongKind("there are more gradients than parameters, or fewer")
    for key, end in zip(sorted(shapes), ends, strict=True):
        yield key, row[end - prod(shapes[key]) : end].reshape(shapes[key])
