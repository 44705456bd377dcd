"""What a student's function returns, as numbers; if it returns none, with which arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from grader.checks.functions.inputs import Case
from grader.compare import Array, numbers
from grader.errors import Crashed, NotImportable, WrongKind
from grader.model import Student


def returned(student: Student, file: str, function: str, case: Case) -> Array:
    with told_with(case):
        return numbers(student.call(file, function, *case.args, **case.kwargs), f"{function}()")


def returned_for_each(student: Student, file: str, function: str, cases: Sequence[Case]) -> Iterator[Array]:
    answers: Iterator[Any] = student.probe_each("call", file, [case.question(function) for case in cases])
    for case in cases:
        with told_with(case):
            value = numbers(next(answers), f"{function}()")
        yield value


@contextmanager
def told_with(case: Case) -> Iterator[None]:
    """Says of what goes wrong which kind of input it was given."""
    try:
        yield
    except NotImportable:
        raise  # nothing was given to anything
    except (Crashed, WrongKind) as fault:
        raise fault.given(case.label) from None
