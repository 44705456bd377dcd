"""Why a function crashes on rectangular inputs: what it does on simpler ones, square or with one head, often tells."""

from __future__ import annotations

import numpy as np

from grader.checks.functions.ground_truth import is_frozen, mistakes_on_squares, reference_function
from grader.checks.functions.inputs import Through, simpler_than
from grader.checks.functions.mistake_name import name_among, name_the_mistake
from grader.checks.functions.returned import returned
from grader.compare import difference
from grader.errors import Crashed, NotImportable, StudentFault
from grader.model import Student


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
