"""The references that a rubric names: functions of its own `checks`, or their answers, frozen.

Students have no reference. Their rubric names a file instead that holds its answers to the questions of one check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo

from grader.checks.functions import frozen
from grader.checks.functions.inputs import Case
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
