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

ENDING = ".frozen.json"
RIGHT = ""  # the right answer goes by no name; mistakes go by what they look like
_AGAIN = "#"  # between what a mistake looks like, its code, and a number, where several look alike
_MISTAKEN_DIGITS = 7  # mistakes are told from each other by far larger differences, and there are many
# Drawn numbers may differ in their last digits from one machine to the next. Answers to numbers this close differ by
# far less than what is accepted.
_SAME = 1e-9

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Question:
    """Arguments, and the answers to them by name; none, if the same is asked when work is graded."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    answers: Mapping[str, Values]

    def is_same_as(self, other: Question) -> bool:
        return self.is_asked_by(other.args, other.kwargs)

    def is_asked_by(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        return _same(plain(self.args), plain(args)) and _same(plain(self.kwargs), plain(kwargs))


def _same(own: Any, other: Any) -> bool:
    if type(own) is not type(other):
        return False
    if isinstance(own, dict):
        return own.keys() == other.keys() and all(_same(own[key], other[key]) for key in own)
    if isinstance(own, list | tuple):
        return len(own) == len(other) and all(_same(*pair) for pair in zip(own, other, strict=True))
    if isinstance(own, np.ndarray) and (own.shape != other.shape or own.dtype != other.dtype):
        return False
    if isinstance(own, float | np.ndarray):
        return np.allclose(own, other, rtol=_SAME, atol=_SAME, equal_nan=True)
    return bool(own == other)


@cache
def answers(path: Path) -> Mapping[str, Callable[..., Values]]:
    """The right function and the mistaken ones, as far as the file knows them."""
    seed, questions = _read(path)
    answered = [question for question in questions if question.answers]

    def answering(name: str) -> Callable[..., Values]:
        def answer(*args: Any, **kwargs: Any) -> Values:
            for question in answered:
                if question.is_asked_by(args, kwargs):
                    return question.answers[name]
            raise UsageError(f"{path.name} knows no answer to these inputs; it was made for seed {seed}")

        return answer

    return {name: answering(name) for name in (answered[0].answers if answered else ())}


def is_left_out(path: Path, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether the file names these arguments and holds no answer to them."""
    return any(one.is_asked_by(args, kwargs) for one in _read(path)[1] if not one.answers)


@cache
def _read(path: Path) -> tuple[int, Sequence[Question]]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return data["seed"], [
        Question(
            tuple(_thawed(value) for value in one["args"]),
            {name: _thawed(value) for name, value in one["kwargs"].items()},
            {name: _thawed(value) for name, value in one["answers"].items()},
        )
        for one in data["questions"]
    ]


def mistakes(path: Path) -> list[tuple[str, Callable[..., Values]]]:
    """What each mistake looks like, and its answers."""
    return [(_thawed_name(name), answer) for name, answer in answers(path).items() if name != RIGHT]


class _Mistake(str):
    """What it looks like; students have no module that says what mistakes there are."""

    code = ""


def _thawed_name(name: str) -> _Mistake:
    words, _, more = name.partition(_AGAIN)
    mistake = _Mistake(words)
    mistake.code = more.rpartition(_AGAIN)[0]
    return mistake


def named_apart(mistaken: Sequence[tuple[str, Callable[..., Any]]]) -> dict[str, Callable[..., Any]]:
    """Mistakes by what they look like, with their codes, numbered where several look alike."""
    return {
        f"{what}{_AGAIN}{getattr(what, 'code', '')}{_AGAIN}{number}": mistake
        for number, (what, mistake) in enumerate(mistaken)
    }


def in_short(values: Array) -> Array:
    """What a mistake answers, to as many digits as tell it from others."""
    return np.array([float(f"{value:.{_MISTAKEN_DIGITS}g}") for value in np.ravel(values)]).reshape(np.shape(values))


def write(path: Path, questions: list[Question], seed: int) -> None:
    data = {
        "seed": seed,
        "questions": [
            {
                "args": [_frozen(value) for value in question.args],
                "kwargs": {name: _frozen(value) for name, value in question.kwargs.items()},
                "answers": {name: _frozen(value) for name, value in question.answers.items()},
            }
            for question in questions
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


def _frozen(value: Any) -> Any:
    """Numbers as they are; NaN, which classic mistakes give, is part of Python's JSON."""
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.name, "shape": list(value.shape), "values": value.ravel().tolist()}
    if isinstance(value, dict):
        return {"dict": [[_frozen(key), _frozen(part)] for key, part in value.items()]}
    if isinstance(value, list | tuple):
        parts = [_frozen(part) for part in value]
        return {"tuple": parts} if isinstance(value, tuple) else parts
    return value


def _thawed(value: Any) -> Any:
    match value:
        case {"dtype": dtype, "shape": shape, "values": values}:
            return np.array(values, dtype=dtype).reshape(shape)
        case {"dict": pairs}:
            return {_thawed(key): _thawed(part) for key, part in pairs}
        case {"tuple": parts}:
            return tuple(map(_thawed, parts))
        case list(parts):
            return [_thawed(part) for part in parts]
    return value
