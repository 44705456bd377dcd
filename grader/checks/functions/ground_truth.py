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
from grader.checks.functions.inputs import Case, Through, returned, simpler_than
from grader.checks.functions.nested import Values, flat, values_in
from grader.compare import ATOL, RTOL, Array, difference
from grader.errors import Crashed, NotImportable, StudentFault
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


def reference_function(name: str) -> Callable[..., Any]:
    """The reference by its name."""
    return frozen.answers(Path(name))[frozen.RIGHT] if is_frozen(name) else _offer(name).function


def _offer(name: str) -> Offer:
    found = offered(name, "reference")
    assert found is not None, f"{name} was not read from a rubric"
    return found


def right_values(right: Callable[..., Any], case: Case) -> Values:
    """What the reference gives for a case."""
    return values_in(right(*case.args, **case.kwargs))


def mistakes_in(name: str) -> Sequence[Mistaken]:
    """Classic mistakes in place of this reference, several of which may look alike."""
    return frozen.mistakes(Path(name)) if is_frozen(name) else _offer(name).mistakes


def mistakes_on_squares(name: str) -> Sequence[Mistaken]:
    """Those that crash unless all sides are equal."""
    return () if is_frozen(name) else _offer(name).on_squares


def mistakes_at_extremes(name: str) -> Sequence[Mistaken]:
    """Those that show only where scores are huge."""
    return () if is_frozen(name) else _offer(name).at_extremes


def pairs_of_mistakes(name: str) -> Iterable[Mistaken]:
    """Two made together. A kit has none of them: there are too many to keep their answers."""
    return () if is_frozen(name) else _offer(name).pairs()


def is_frozen(name: str) -> bool:
    """Whether only answers are there, to questions that are known already."""
    return name.endswith(frozen.ENDING)


Given = tuple[Case, Array]  # arguments, and what the student's function made of them


def name_the_mistake(reference: str, given: Sequence[Given]) -> str:
    """The mistake that explains every value the student gave, or an empty string. What comes first should be wrong: it
    rules most mistakes out."""
    return name_among(chain(mistakes_in(reference), pairs_of_mistakes(reference)), given)


def code_of(mistake: str) -> str:
    """Of one of our own; a rubric's own mistakes have none."""
    return getattr(mistake, "code", "")


def name_among(
    mistakes: Iterable[Mistaken], given: Sequence[Given], right: Sequence[NDArray[np.bool_] | None] = ()
) -> str:
    """The first of them that explains all values. `right` says which are: those no mistake can leave open."""
    return next(names_among(mistakes, given, right), "")


def names_among(
    mistakes: Iterable[Mistaken], given: Sequence[Given], right: Sequence[NDArray[np.bool_] | None] = ()
) -> Iterator[str]:
    for name, mistaken in mistakes:
        with np.errstate(all="ignore"):  # mistakes overflow
            if _explains(mistaken, given, right or [None] * len(given)):
                yield name


def _explains(mistaken: Callable[..., Any], given: Sequence[Given], right: Sequence[NDArray[np.bool_] | None]) -> bool:
    """Whether it gives the student's values wherever it gives a number. A query that it leaves without any key, or
    whose exp overflows, is NaN, and students' code then gives NaN, zero or a mean, depending on how it is written."""
    told = False
    for (case, value), is_right in zip(given, right, strict=True):
        try:
            wrong = flat(values_in(mistaken(*case.args, **case.kwargs)))
        except ValueError:  # it needs sides that agree
            return False
        if wrong.shape != value.shape:
            return False
        known = np.isfinite(wrong)
        if not np.allclose(wrong[known], value[known], rtol=RTOL, atol=ATOL):
            return False
        if is_right is not None and is_right[~known].any():
            return False
        told = told or bool(known.any())
    return told


def can_be_asked_more(fault: Crashed, reference: str) -> bool:
    """It raised while it ran, and neither ended nor hung; and there is a reference that can answer anything."""
    return type(fault) is Crashed and not isinstance(fault, NotImportable) and not is_frozen(reference)


def cause_of_crash(
    student: Student,
    rng: np.random.Generator,
    asked: tuple[str, str],
    reference: str,
    inputs: str,
    through: Through = None,
) -> str:
    """What to add to the message about a crash; nothing, if simpler inputs crash as well."""
    right = reference_function(reference)
    for circumstance, suspect, case in simpler_than(inputs, rng):
        try:
            got = returned(student, *asked, case, through)
        except StudentFault:
            continue
        if difference(got, right(*case.args, **case.kwargs)) is None:
            return f"; {circumstance} it is right, so look at {suspect}"
        given = [(case, got)]
        cause = name_among(mistakes_on_squares(reference), given) or name_the_mistake(reference, given)
        if cause:
            return f"; {circumstance} it runs, and looks as if {cause}"
    return ""
