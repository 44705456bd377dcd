"""What goes wrong in a stub is no mistake of a student's, and whatever they wrote is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grader.errors import Crashed, StudentFault, TimedOut, WrongKind
from grader.model import Check, passed
from grader.submission.not_started import not_started
from tests.conftest import MakeSubmission

STUB = "def {}(x):\n    raise NotImplementedError\n"
WRITTEN = "def {}(x):\n    return x\n"


def _told(submission: MakeSubmission, code: str, fault: StudentFault, names: tuple[str, ...] = ("f", "g")) -> str:
    check = Check("c", lambda *_: passed(""), {}, "It works.", Fraction(1), files=("work.py", "data.tsv"), names=names)
    found = not_started(fault, check, submission(code))
    return "its own fault" if found is fault else f"{found.code}: {found.message}"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (STUB.format("f") + STUB.format("g"), "not_started: not started: f and g in work.py are still a stub"),
        (STUB.format("f"), "not_started: not started: f in work.py is still a stub"),
        (STUB.format("f") + WRITTEN.format("g"), "its own fault"),
        (WRITTEN.format("f") + WRITTEN.format("g"), "its own fault"),
        ("x = 1\n", "its own fault"),
    ],
)
def test_only_work_of_nothing_but_stubs_is_not_started(submission: MakeSubmission, code: str, told: str) -> None:
    for fault in (Crashed("it raised"), WrongKind("it returned None")):
        assert _told(submission, code, fault) == told


def test_time_that_ran_out_and_checks_that_ask_for_no_name_stay_as_they_are(submission: MakeSubmission) -> None:
    assert _told(submission, STUB.format("f"), TimedOut("it took too long")) == "its own fault"
    assert _told(submission, STUB.format("f"), Crashed("it raised"), names=()) == "its own fault"
