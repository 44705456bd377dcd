"""Answers of the reference, kept in a file: what it says to the questions of one check, and what mistakes say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from grader.checks.functions.nested import Values, plain
from grader.compare import Array
from grader.errors import UsageError
from grader.rubric.own_functions import Offer

ENDING = ".frozen.json"
_MISTAKEN_DIGITS = 7  # mistakes are told from each other by far larger differences, and there are many
# Sampled numbers may differ in their last digits from one machine to the next. Answers to numbers this close differ by
# far less than what is accepted.
_CLOSE = 1e-9


@dataclass(frozen=True)
class Question:
    """Arguments, the right answer to them, and what mistakes give: each by what it looks like."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    right: Values
    mistaken: Sequence[tuple[str, Values]] = ()
    left_out: bool = False  # the same is asked when work is graded, so no kit has the answer

    def without_answers(self) -> Question:
        return Question(self.args, self.kwargs, None, left_out=True)

    def is_same_as(self, other: Question) -> bool:
        return self.is_asked_by(other.args, other.kwargs)

    def is_asked_by(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        return _agree(plain(self.args), plain(args)) and _agree(plain(self.kwargs), plain(kwargs))


def _agree(own: Any, other: Any) -> bool:
    if type(own) is not type(other):
        return False
    if isinstance(own, dict):
        return own.keys() == other.keys() and all(_agree(own[key], other[key]) for key in own)
    if isinstance(own, list | tuple):
        return len(own) == len(other) and all(_agree(*pair) for pair in zip(own, other, strict=True))
    if isinstance(own, np.ndarray) and (own.shape != other.shape or own.dtype != other.dtype):
        return False
    if isinstance(own, float | np.ndarray):
        return np.allclose(own, other, rtol=_CLOSE, atol=_CLOSE, equal_nan=True)
    return bool(own == other)


@cache
def answers(path: Path) -> Offer:
    """The right function and the mistaken ones, as far as the file knows them."""
    seed, questions = _read(path)
    answered = [question for question in questions if not question.left_out]

    def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Question:
        for question in answered:
            if question.is_asked_by(args, kwargs):
                return question
        raise UsageError(f"{path.name} knows no answer to these inputs; it was made for seed {seed}")

    def mistake(number: int) -> Callable[..., Values]:
        return lambda *args, **kwargs: asked(args, kwargs).mistaken[number][1]

    names = [what for what, _ in answered[0].mistaken] if answered else []
    mistakes = tuple((what, mistake(number)) for number, what in enumerate(names))
    return Offer("reference", lambda *args, **kwargs: asked(args, kwargs).right, mistakes)


def is_left_out(path: Path, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether the file names these arguments and holds no answer to them."""
    return any(question.is_asked_by(args, kwargs) for question in _read(path)[1] if question.left_out)


@cache
def _read(path: Path) -> tuple[int, Sequence[Question]]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return data["seed"], [
        Question(
            tuple(map(_decoded, question["args"])),
            {name: _decoded(value) for name, value in question["kwargs"].items()},
            _decoded(question["right"]),
            [(_Mistake(*mistake), _decoded(values)) for *mistake, values in question["mistaken"]],
            question["left_out"],
        )
        for question in data["questions"]
    ]


class _Mistake(str):
    """What it looks like; students have no module that says what mistakes there are."""

    code: str

    def __new__(cls, words: str, code: str) -> _Mistake:
        made = super().__new__(cls, words)
        made.code = code
        return made


def shortened(values: Array) -> Array:
    """What a mistake answers, to as many digits as tell it from others."""
    return np.array([float(f"{value:.{_MISTAKEN_DIGITS}g}") for value in np.ravel(values)]).reshape(np.shape(values))


def write(path: Path, questions: list[Question], seed: int) -> None:
    data = {
        "seed": seed,
        "questions": [
            {
                "args": [_encoded(value) for value in question.args],
                "kwargs": {name: _encoded(value) for name, value in question.kwargs.items()},
                "right": _encoded(question.right),
                "left_out": question.left_out,
                "mistaken": [[what, getattr(what, "code", ""), _encoded(values)] for what, values in question.mistaken],
            }
            for question in questions
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


def _encoded(value: Any) -> Any:
    """Numbers as they are; NaN, which classic mistakes give, is part of Python's JSON."""
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.name, "shape": list(value.shape), "values": value.ravel().tolist()}
    if isinstance(value, dict):
        return {"dict": [[_encoded(key), _encoded(part)] for key, part in value.items()]}
    if isinstance(value, list | tuple):
        parts = [_encoded(part) for part in value]
        return {"tuple": parts} if isinstance(value, tuple) else parts
    return value


def _decoded(value: Any) -> Any:
    match value:
        case {"dtype": dtype, "shape": shape, "values": values}:
            return np.array(values, dtype=dtype).reshape(shape)
        case {"dict": pairs}:
            return {_decoded(key): _decoded(part) for key, part in pairs}
        case {"tuple": parts}:
            return tuple(map(_decoded, parts))
        case list(parts):
            return [_decoded(part) for part in parts]
    return value
