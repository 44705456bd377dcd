"""The references that a rubric names: functions of its own `checks`, or their answers, frozen.

Students have no reference. Their rubric names a file instead that holds its answers to the questions of one check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ValidationInfo

from grader.checks.functions import frozen
from grader.checks.functions.inputs import Case, Cases
from grader.checks.functions.nested import Values, values_in
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


# Every submission of a class is asked the same questions, so the reference need answer them only once. A process sees
# some dozens of questions a rubric; the bound is for rubrics that ask about large arrays.
_REMEMBERED = 1024
_LARGEST_BYTES = 1 << 16


def reference_function(name: str) -> Callable[..., Any]:
    """The reference by its name. What it has answered about small arrays it remembers; such an answer is read-only."""
    if is_frozen(name):
        return frozen.answers(Path(name))[frozen.RIGHT]
    right = _offer(name).function

    def answer(*args: Any, **kwargs: Any) -> Any:
        asked = _as_key((args, kwargs))
        if asked is None:
            return right(*args, **kwargs)
        question = (right, asked)  # a rubric's own function may go by a name that another rubric's has
        if question not in _answers:
            found = right(*args, **kwargs)
            if not isinstance(found, np.ndarray):
                return found
            found.flags.writeable = False
            if len(_answers) >= _REMEMBERED:
                _answers.pop(next(iter(_answers)))
            _answers[question] = found
        return _answers[question]

    return answer


def _offer(name: str) -> Offer:
    found = offered(name, "reference")
    assert found is not None, f"{name} was not read from a rubric"
    return found


def asked_here(name: str, cases: Cases) -> Cases:
    """All of them; in a kit only those that are not asked again when work is graded."""
    if not is_frozen(name):
        return cases
    return Cases(case for case in cases if not frozen.is_left_out(Path(name), case.args, case.kwargs))


def right_values(right: Callable[..., Any], name: str, case: Case) -> Values:
    """What the reference of this name gives for a case; nobody may write into it."""
    return case.once((right_values, name), lambda: values_in(right(*case.args, **case.kwargs)))


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


_answers: dict[Any, NDArray[Any]] = {}


def _as_key(value: Any) -> Any:
    """The value in a form that can be looked up; None if it is too large, or of a kind that may change."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes()) if value.nbytes <= _LARGEST_BYTES else None
    if isinstance(value, str | int | float | None):
        return type(value), value
    parts = value.items() if isinstance(value, dict) else value if isinstance(value, tuple | list) else None
    if parts is None:
        return None
    keys = tuple(_as_key(part) for part in parts)
    return None if None in keys else (type(value), keys)
