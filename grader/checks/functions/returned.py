"""What a student's function returns, as numbers; if it returns none, with which arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grader.checks.functions.inputs import Case
from grader.compare import Array, numbers
from grader.errors import Crashed, NotImportable, WrongKind
from grader.model import Student


def returned(student: Student, file: str, function: str, case: Case) -> Array:
    try:
        return numbers(student.call(file, function, *case.args, **case.kwargs), f"{function}()")
    except (Crashed, WrongKind) as fault:
        raise given(case, fault) from None


def returned_for_each(student: Student, file: str, function: str, cases: Sequence[Case]) -> Iterator[Array]:
    answers: Iterator[Any] = student.probe_each("call", file, [case.question(function) for case in cases])
    for case in cases:
        try:
            value = numbers(next(answers), f"{function}()")
        except (Crashed, WrongKind) as fault:
            raise given(case, fault) from None
        yield value


def given(case: Case, fault: Crashed | WrongKind) -> Crashed | WrongKind:
    """The fault, which says now with which kind of input it came; a file that cannot be imported was given none."""
    return fault if isinstance(fault, NotImportable) else fault.given(case.label)
