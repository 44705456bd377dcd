"""Why a function crashes on rectangular inputs: what it does on simpler ones, square or with one head, often tells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.checks.functions.ground_truth import is_frozen, mistakes_on_squares, reference_function
from grader.checks.functions.inputs import Case, attention_case, heads_case
from grader.checks.functions.mistake_name import name_among, name_the_mistake
from grader.checks.functions.returned import returned
from grader.compare import difference
from grader.errors import Crashed, NotImportable, StudentFault
from grader.model import Student
from grader.rubric.own_functions import offered

_SIDE = 6


def can_be_asked_more(fault: Crashed, reference: str) -> bool:
    """It raised while it ran, and neither ended nor hung; and there is a reference that can answer anything."""
    return type(fault) is Crashed and not isinstance(fault, NotImportable) and not is_frozen(reference)


def cause_of_crash(
    student: Student, rng: np.random.Generator, asked: tuple[str, str], reference: str, inputs: str
) -> str:
    """What to add to the message about a crash; nothing, if simpler inputs crash as well."""
    right = reference_function(reference)
    for circumstance, suspect, case in _simpler(rng, inputs):
        try:
            got = returned(student, *asked, case)
        except StudentFault:
            continue
        if difference(got, right(*case.args, **case.kwargs)) is None:
            return f"; {circumstance} it is right, so look at {suspect}"
        given = [(case, got)]
        cause = name_among(mistakes_on_squares(reference), given) or name_the_mistake(reference, given)
        if cause:
            return f"; {circumstance} it runs, and looks as if {cause}"
    return ""


def _simpler(rng: np.random.Generator, inputs: str) -> Iterator[tuple[str, str, Case]]:
    """Under which circumstances, what is at fault if it is right there, and such inputs."""
    square, sides = "where all matrices are square", "which side is which"
    if offered(inputs, "inputs"):  # what would be simpler, only its author knows
        return
    if inputs == "column_attention":
        yield square, sides, attention_case(rng, (_SIDE,) * 4, 0.7)
    else:
        yield square, sides, heads_case(rng, _SIDE, _SIDE, _SIDE, 2)
        yield "with one head", "how several are split and joined", heads_case(rng, 5, 8, 4, 1)
        yield f"{square} and there is one head,", sides, heads_case(rng, _SIDE, _SIDE, _SIDE, 1)
