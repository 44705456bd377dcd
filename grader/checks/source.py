"""Source text judged without running it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from grader.errors import Crashed
from grader.model import Outcome, Status, Student, failed, passed
from grader.quoting import place
from grader.registry import StudentFile, check


@check
def writes_it_out(student: Student, rng: np.random.Generator, *, file: StudentFile, forbidden: list[str]) -> Outcome:
    """It is written out rather than handed to a ready-made function that does it all."""
    # Parsed inside the box: a hostile file can crash a parser, and then only its own box is lost.
    match student.probe("names_used", file):
        case {"names": list(names), "complete": bool(complete)}:
            pass
        case _:
            raise Crashed(f"{file} could not be read")
    for mention in names:
        match mention:
            case (str(name), str(source), int(line)) if name in forbidden:
                return failed(f"{place(source, line)} uses {name}, which does the whole task; write the steps out")
    if not complete:
        message = "it imports more files of its own than were read; a person should look"
        return Outcome(Status.REVIEW, Fraction(1), message)
    return passed("no ready-made function is used", evidence={"forbidden": forbidden})
