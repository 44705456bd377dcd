"""The answers that the reference gives to a check's public questions, found by grading the reference itself."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from grader.checks.functions.frozen import RIGHT, Question, in_short, named_apart
from grader.checks.functions.ground_truth import mistakes_in, reference_function
from grader.checks.functions.nested import Values, flat, plain, values_in
from grader.errors import RubricError
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Box, Check, Isolation, Limits, Probe, Problem, Rubric, Status, Submission
from grader.rubric.per_student import for_student
from grader.submission.opening import OpenedSubmission


class _MoreThanValues(Exception):
    """The check asked for something that only a student's file can answer."""


class _Reference:
    """The reference in a student's place: it answers calls, and remembers them. It needs no box: it is our own."""

    def __init__(self, right: Callable[..., Any]) -> None:
        self._right = right
        self.asked: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self.printed = ""
        self.lacked_a_gpu = False
        self.isolation = Isolation((), ())

    @contextmanager
    def open(self, submission: Submission, limits: Limits, seed: int) -> Iterator[Box]:
        yield self

    def begin_check(self) -> None:
        """It draws no random numbers."""

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        self.asked.append((args, kwargs))
        return values_in(self._right(*args, **kwargs))

    def probe(self, probe: str | Probe, file: str, /, **request: Any) -> Any:
        raise _MoreThanValues(str(probe))

    def probe_each(self, probe: str | Probe, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        if probe != "call":
            raise _MoreThanValues(str(probe))
        for request in requests:
            yield self.call(file, request["function"], *request["args"], **request["kwargs"])


def frozen_questions(
    rubric: Rubric, problem: Problem, check: Check, name: str, draw: Draw
) -> tuple[Question, ...] | None:
    """What the check asks the reference of this name, with every answer; None if it asks for more than values."""
    student = _Reference(reference_function(name))
    alone = replace(problem, checks=(replace(check, needs=(), review_unless={}, gate=False),), alternatives=())
    with tempfile.TemporaryDirectory() as empty:
        nothing = OpenedSubmission("reference", Path(empty), 0, ())
        asked = for_student(replace(rubric, problems=(alone,)), nothing.name, draw)
        report = grade(asked, nothing, student, draw)
    (result,) = report.problems[0].checks
    if result.fault.startswith(_MoreThanValues.__name__):
        return None
    if result.outcome.status is not Status.PASSED:
        why = result.fault or result.outcome.message
        raise RubricError([f"{problem.id} {check.id}: the reference {name} does not pass it: {why}"])
    return tuple(Question(plain(args), plain(kwargs), _answers(name, args, kwargs)) for args, kwargs in student.asked)


def _answers(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    def values_of(function: Callable[..., Any]) -> Values:
        return values_in(function(*args, **kwargs))

    with np.errstate(all="ignore"):  # mistakes overflow
        wrong = {what: in_short(flat(values_of(one))) for what, one in named_apart(mistakes_in(name)).items()}
    return {RIGHT: values_of(reference_function(name)), **wrong}
