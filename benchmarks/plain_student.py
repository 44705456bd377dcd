"""Checks without a grader around them: the student's module imported into the same process, as a plain test would."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from grader.checks import source, values
from grader.model import Outcome
from grader.registry import definitions_in
from grader.sandbox.inside import source as reading
from grader.yaml_source import read

RUBRIC = Path(__file__).resolve().parent.parent / "rubrics" / "dl-hw3.yaml"
Call = tuple[str, str, tuple[Any, ...], dict[str, Any]]


class PlainStudent:
    """Calls go straight to the student's module; `calls` keeps what was asked."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.printed = ""

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        self.calls.append((file, function, args, kwargs))
        return getattr(importlib.import_module(file.removesuffix(".py")), function)(*args, **kwargs)

    def probe(self, probe: str, file: str, /, **request: Any) -> Any:
        if probe == "names_used":
            names, complete = reading.mentions(file)
            return {"names": names, "complete": complete}
        if probe == "call":
            return self.call(file, request["function"], *request["args"], **request["kwargs"])
        assert probe == "call_showing_arguments", probe
        args, kwargs = [np.copy(one) for one in request["args"]], dict(request["kwargs"])
        self.call(file, request["function"], *request["args"], **request["kwargs"])
        return {"args": args, "kwargs": kwargs}

    def probe_each(self, probe: str, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        return (self.probe(probe, file, **request) for request in requests)


def cases(problems: tuple[str, ...], student: PlainStudent | None = None) -> list[tuple[str, Callable[[], Outcome]]]:
    """Every check of these problems, ready to be judged. The rubric loader is not used: it loads every check."""
    known, found = definitions_in([values, source]), []
    for problem in read(RUBRIC.read_text()).data["problems"]:
        if str(getattr(problem["id"], "text", problem["id"])) not in problems:
            continue
        for check in problem["checks"]:
            definition = known[check["check"]]
            given = {**problem.get("with", {}), **check}
            parameters = {name: value for name, value in given.items() if name in definition.parameters}
            judge = partial(definition.function, student or PlainStudent(), np.random.default_rng(0), **parameters)
            found.append((definition.name, judge))
    return found


def bare_seconds(problems: tuple[str, ...], rounds: int) -> float:
    """Of importing the student's files and making all the calls that the checks make; the least of some rounds."""
    student = PlainStudent()
    for _, judge in cases(problems, student):
        judge()
    files = {file.removesuffix(".py") for file, *_ in student.calls}
    taken = []
    for _ in range(rounds):
        for name in files:
            sys.modules.pop(name, None)
        began = time.perf_counter()
        for file, function, args, kwargs in student.calls:
            getattr(importlib.import_module(file.removesuffix(".py")), function)(*args, **kwargs)
        taken.append(time.perf_counter() - began)
    return min(taken)
