"""When a student's values equal those of a classic mistake, or of two made together, the feedback can name it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.checks.functions.ground_truth import mistakes_in, pairs_of_mistakes
from grader.checks.functions.inputs import Case
from grader.checks.functions.nested import flat, values_in
from grader.compare import ATOL, RTOL, Array
from grader.rubric.own_functions import Mistaken

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
