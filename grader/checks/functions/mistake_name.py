"""When a student's values equal those of a classic mistake, the feedback can name it."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.checks.functions.ground_truth import mistakes_in
from grader.compare import ATOL, RTOL


def name_the_mistake(reference: str, cases: list[tuple[tuple[Any, ...], dict[str, Any]]], got: list[Any]) -> str:
    """The mistake that explains every value the student gave, or an empty string."""
    for name, mistaken in mistakes_in(reference).items():
        if all(_equal(mistaken(*args, **kwargs), value) for (args, kwargs), value in zip(cases, got, strict=True)):
            return name
    return ""


def _equal(wrong: Any, value: Any) -> bool:
    """Equal wherever the mistake gives a number. A query that it leaves without any key is NaN, and students' code then
    gives NaN, zero or a mean, depending on how the mask is applied."""
    wrong = np.asarray(wrong)
    if wrong.shape != np.shape(value):
        return False
    known = np.isfinite(wrong)
    return bool(known.any() and np.allclose(wrong[known], np.asarray(value)[known], rtol=RTOL, atol=ATOL))
