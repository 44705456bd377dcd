"""What a student's function returns, as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grader.checks.functions.inputs import Case
from grader.compare import Array, numbers
from grader.model import Student


def returned(student: Student, file: str, function: str, *args: Any, **kwargs: Any) -> Array:
    return numbers(student.call(file, function, *args, **kwargs), f"{function}()")


def returned_for_each(student: Student, file: str, function: str, cases: Sequence[Case]) -> Iterator[Array]:
    requests = [{"function": function, "args": list(case.args), "kwargs": case.kwargs} for case in cases]
    for value in student.probe_each("call", file, requests):
        yield numbers(value, f"{function}()")
