"""What a student's function returns, as numbers; if it returns none, with which arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from grader.checks.functions.inputs import Case, Cases, Through
from grader.checks.functions.nested import Values, as_asked
from grader.compare import Array, numbers
from grader.errors import Crashed, NotImportable, WrongKind
from grader.model import Student

_Read = TypeVar("_Read")


def returned(student: Student, file: str, function: str, case: Case, through: Through = None) -> Array:
    try:
        return numbers(student.probe("call", file, **case.question(function, through)), f"{function}()")
    except (Crashed, WrongKind) as fault:
        raise given(case, fault) from None


class Returned(Iterator[Array]):
    """What it returns for each case, one after the other."""

    def __init__(self, answers: Iterator[Any], cases: Cases, function: str) -> None:
        self._answers, self._cases, self._what = answers, iter(cases), f"{function}()"

    def __next__(self) -> Array:
        return self._next(lambda value: numbers(value, self._what))

    def next_like(self, want: Values) -> Values:
        """The next one, in the parts that the right answer has."""
        return self._next(lambda value: as_asked(value, want, self._what))

    def _next(self, read: Callable[[Any], _Read]) -> _Read:
        case = next(self._cases)
        try:
            return read(next(self._answers))
        except (Crashed, WrongKind) as fault:
            raise given(case, fault) from None


def returned_for_each(student: Student, file: str, function: str, cases: Cases, through: Through = None) -> Returned:
    return Returned(student.probe_each("call", file, cases.questions(function, through)), cases, function)


def given(case: Case, fault: Crashed | WrongKind) -> Crashed | WrongKind:
    """The fault, which says now with which kind of input it came; a file that cannot be imported was given none."""
    return fault if isinstance(fault, NotImportable) else fault.given(case.label)
