"""Source text judged without running it."""

from __future__ import annotations

import numpy as np

from grader.model import Outcome, Student, failed, passed
from grader.quoting import quote
from grader.registry import StudentFile, check


@check
def writes_it_out(student: Student, rng: np.random.Generator, *, file: StudentFile, forbidden: list[str]) -> Outcome:
    """It is written out rather than handed to a ready-made function that does it all."""
    # Parsed inside the box: a hostile file can crash a parser, and then only its own box is lost.
    for name, place, line in student.probe("names_used", file):
        if name in forbidden:
            return failed(f"{quote(place)}:{line} uses {quote(name)}, which does the whole task; write the steps out")
    return passed("no ready-made function is used", evidence={"forbidden": forbidden})
