"""Checks without a grader around them: the student's module imported into the same process, as a plain test would."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from grader.model import Outcome
from grader.rubric.loading import load_rubric
from grader.sandbox.box.loading import student_code
from grader.sandbox.box.probes.probes import PROBES

RUBRIC = Path(__file__).resolve().parent.parent / "rubrics" / "dl-hw3" / "rubric.yaml"
Asked = tuple[str, str, dict[str, Any]]


class PlainStudent:
    """What a box would run runs here, in the process that judges it; `asked` keeps what was asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.printed = ""

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        return self.probe("call", file, function=function, args=list(args), kwargs=kwargs)

    def probe(self, probe: str, file: str, /, **request: Any) -> Any:
        self.asked.append((probe, file, deepcopy(request)))
        return _as_arrays(PROBES[probe](file=file, **request))

    def probe_each(self, probe: str, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        return (self.probe(probe, file, **request) for request in requests)


def _as_arrays(value: Any) -> Any:
    """Tensors as arrays, which is how they leave a box."""
    if hasattr(value, "detach"):
        return value.detach().numpy()
    if isinstance(value, Mapping):
        return {key: _as_arrays(item) for key, item in value.items()}
    return [_as_arrays(item) for item in value] if isinstance(value, list | tuple) else value


def cases(problems: tuple[str, ...], student: PlainStudent | None = None) -> list[tuple[str, Callable[[], Outcome]]]:
    """Every check of these problems, ready to be judged."""
    return [
        (check.id, partial(check.function, student or PlainStudent(), np.random.default_rng(0), **check.parameters))
        for problem in load_rubric(RUBRIC).problems
        if problem.id in problems
        for check in problem.checks
    ]


def bare_seconds(problems: tuple[str, ...], for_seconds: float = 0.0, rounds: int = 5) -> list[float]:
    """Of importing the student's files and running all that the checks ask for, again and again: so many rounds at
    least, and for so long."""
    student = PlainStudent()
    for _, judge in cases(problems, student):
        judge()
    files = {Path(file).stem for _, file, _ in student.asked}
    taken: list[float] = []
    while len(taken) < rounds or sum(taken) < for_seconds:
        student_code.loaded.clear()
        for name in files:
            sys.modules.pop(name, None)
        began = time.perf_counter()
        for probe, file, request in student.asked:
            PROBES[probe](file=file, **request)
        taken.append(time.perf_counter() - began)
    return taken
