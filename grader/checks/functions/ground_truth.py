"""The references that a rubric names: functions of its own `checks`, or their answers, frozen.

Students have no reference. Their rubric names a file instead that holds its answers to the questions of one check.
When a student's values equal those of a classic mistake, or of two made together, the feedback can name it; and why a
function crashes on rectangular inputs, what it does on simpler ones, square or with one head, often tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ValidationInfo

from grader.checks.functions import frozen
from grader.checks.functions.inputs import Case, Cases, Through, returned_for_each, simpler_than
from grader.checks.functions.nested import Values, flat, values_in
from grader.compare import ATOL, RTOL, Array, difference
from grader.errors import StudentFault
from grader.model import Student
from grader.registry import LeftOutOfKits, NamesAReference, found_in_data
from grader.rubric.hints import did_you_mean
from grader.rubric.own_functions import Mistaken, Offer, OfferedName, offered, offers_among


def _existing(name: str, info: ValidationInfo) -> str:
    if is_frozen(name):
        return found_in_data(name, info)
    own = offers_among(info.context, "reference")
    if name not in own:
        raise ValueError(f"names no @reference of the rubric's own checks: '{name}'{did_you_mean(name, own)}")
    return OfferedName(name, own[name])


Reference = Annotated[str, AfterValidator(_existing), NamesAReference()]
ReferenceForCauses = Annotated[Reference | None, LeftOutOfKits()]


def reference_named(name: str) -> Offer:
    """The reference by its name, with its classic mistakes; of a frozen one there are the usual ones alone."""
    if is_frozen(name):
        return frozen.answers(Path(name))
    found = offered(name, "reference")
    assert found is not None, f"{name} was not read from a rubric"
    return found


def asked_here(name: str, cases: Cases) -> Cases:
    """All of them; in a kit only those that are not asked again when work is graded."""
    if not is_frozen(name):
        return cases
    return Cases(case for case in cases if not frozen.is_left_out(Path(name), case.args, case.kwargs))


def is_frozen(name: str) -> bool:
    """Whether only answers are there, to questions that are known already."""
    return name.endswith(frozen.ENDING)


def values_of(function: Callable[..., Any], case: Case) -> Values:
    """What the reference, or a mistake, gives for a case."""
    return values_in(function(*case.args, **case.kwargs))


Call = tuple[Case, Array]  # arguments, and what the student's function made of them


def name_the_mistake(reference: Offer, calls: Sequence[Call], on_squares: bool = False) -> str:
    """The mistake that explains every value the student gave, or an empty string. What comes first should be wrong: it
    rules most mistakes out."""
    squares = reference.on_squares if on_squares else ()
    return next(names_among(chain(squares, reference.mistakes, reference.pairs()), calls), "")


def code_of(mistake: str) -> str:
    """Of one of our own; a rubric's own mistakes have none."""
    return getattr(mistake, "code", "")


def names_among(
    mistakes: Iterable[Mistaken], calls: Sequence[Call], right: Sequence[NDArray[np.bool_] | None] = ()
) -> Iterator[str]:
    """Those that explain all values. `right` says which are: those no mistake can leave open."""
    for name, mistaken in mistakes:
        with np.errstate(all="ignore"):  # mistakes overflow
            if _explains(mistaken, calls, right or [None] * len(calls)):
                yield name


def _explains(mistaken: Callable[..., Any], calls: Sequence[Call], right: Sequence[NDArray[np.bool_] | None]) -> bool:
    """Whether it gives the student's values wherever it gives a number. A query that it leaves without any key, or
    whose exp overflows, is NaN, and students' code then gives NaN, zero or a mean, depending on how it is written."""
    compared = False
    for (case, value), is_right in zip(calls, right, strict=True):
        try:
            wrong = flat(values_of(mistaken, case))
        except ValueError:  # it needs sides that agree
            return False
        if wrong.shape != value.shape:
            return False
        known = np.isfinite(wrong)
        if not np.allclose(wrong[known], value[known], rtol=RTOL, atol=ATOL):
            return False
        if is_right is not None and is_right[~known].any():
            return False
        compared = compared or bool(known.any())
    return compared


def cause_of_crash(
    student: Student,
    rng: np.random.Generator,
    asked: tuple[str, str],
    reference: Offer,
    inputs: str,
    through: Through = None,
) -> str:
    """What to add to the message about a crash; nothing, if simpler inputs crash as well."""
    for circumstance, suspect, case in simpler_than(inputs, rng):
        try:
            (got,) = returned_for_each(student, *asked, Cases([case]), through)
        except StudentFault:
            continue
        if difference(got, values_of(reference.function, case)) is None:
            return f"; {circumstance} it is right, so look at {suspect}"
        if cause := name_the_mistake(reference, [(case, got)], on_squares=True):
            return f"; {circumstance} it runs, and looks as if {cause}"
    return ""
