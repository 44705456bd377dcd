"""What one check finds in a submission: whom it asks, how often it may try, and whose fault it is if that fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from grader.alternatives import sheet_of
from grader.answers import about, answer_to
from grader.draw import Draw
from grader.errors import BoxLost, BoxRefused, Killed, StudentFault, TimedOut
from grader.from_pages import from_pages
from grader.model import Answer, Answers, Box, Check, Limits, Outcome, Problem, Rubric, Runner, Status, Submission
from grader.quoting import quote
from grader.shown import concealed, from_fault, with_output
from grader.stubs import not_started

_PRINTED_CHARACTERS = 2000


class Work:
    """A submission while it is graded: its answer sheet is read once, when the first check asks for it."""

    def __init__(self, submission: Submission, rubric: Rubric) -> None:
        self.submission = submission
        self._rubric = rubric
        self._seconds = 0.0
        self.without_gpu: list[str] = []  # parts whose code asked for one
        self.slow_in = ""  # the check in which its code ran out of wall time, or of our patience

    @cached_property
    def sheet(self) -> Answers | StudentFault:
        """What was written or, once for all parts, why that is not known."""
        try:
            return sheet_of(self.submission, self._rubric)
        except StudentFault as fault:
            return fault

    def limits(self, problem: Problem) -> Limits:
        return problem.limits.hurried() if self.slow_in else problem.limits

    def took(self, seconds: float, timed_out: bool, problem: Problem, check: Check) -> None:
        """Note how long a check was kept by code of this submission."""
        self._seconds += seconds
        if not self.slow_in and (timed_out or self._seconds > problem.limits.patience_seconds):
            self.slow_in = f"{problem.id} {check.id}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the sheet's reader could not place, if any check asked for it; and what ran otherwise than at home."""
        about_sheet = about(self.sheet, self._rubric.parts) if "sheet" in self.__dict__ else ()
        if not self.without_gpu:
            return about_sheet
        parts = ", ".join(dict.fromkeys(self.without_gpu))
        return (*about_sheet, f"the code of {parts} asks for a GPU; there is none here, so it ran on the processor")


class _Student:
    """What one check sees: the box, and what was handed in beside code."""

    def __init__(self, box: Box, work: Work, problem: Problem, beside: tuple[str, ...]) -> None:
        self._box = box
        self._work = work
        self._problem = problem
        self.beside = beside
        self.saw_inputs = False
        self.read_sheet = False

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        self.saw_inputs = True
        return self._box.call(file, function, *args, **kwargs)

    def probe(self, probe: str, file: str, /, **request: Any) -> Any:
        self.saw_inputs = True
        return self._box.probe(probe, file, **request)

    def probe_each(self, probe: str, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        self.saw_inputs = True
        return self._box.probe_each(probe, file, requests)

    @property
    def printed(self) -> str:
        return self._box.printed

    def read(self, file: str) -> bytes:
        return self._work.submission.read(file)

    @property
    def answer(self) -> Answer:
        self.read_sheet = True
        return answer_to(self._problem, self._work.sheet)


def judge(
    rubric: Rubric,
    problem: Problem,
    check: Check,
    beside: tuple[str, ...],
    work: Work,
    runner: Runner,
    draw: Draw,
    attempts: int,
) -> tuple[Outcome, bool]:
    """What the check finds, and whether it ran out of time."""
    place = f"{rubric.name}/{problem.id}/{check.id}"
    outcome, printed, timed_out = None, "", False
    student: _Student | None = None
    for _ in range(attempts):
        # Two streams: student code can read its own, and must not learn from it which check this is or what it asks.
        questions = np.random.default_rng(draw.questions(place))
        try:
            with runner.open(work.submission, work.limits(problem), draw.student(rubric.name)) as box:
                student = _Student(box, work, problem, beside)
                try:
                    outcome = check.function(student, questions, **check.parameters)
                finally:
                    printed = quote(student.printed, _PRINTED_CHARACTERS)
                    if box.lacked_a_gpu and check.visibility == "public":  # what hidden checks ask tells nothing
                        work.without_gpu.append(problem.id)
                if not isinstance(outcome, Outcome):
                    raise TypeError(f"{check.function.__name__} returned {type(outcome).__name__}, not an Outcome")
                if check.visibility == "hidden" and student.saw_inputs:
                    outcome = concealed(outcome)
                return _from_pages(with_output(outcome, printed), student, work, problem), False
        except TimedOut as fault:
            outcome, timed_out = with_output(from_fault(fault, check), printed), True
            if work.slow_in:
                outcome = replace(outcome, message=f"{outcome.message}; it took too long already in {work.slow_in}")
        except Killed as fault:
            outcome, timed_out = with_output(from_fault(fault, check), printed), False
        except StudentFault as fault:
            outcome = with_output(from_fault(not_started(fault, check, work.submission), check), printed)
            return _from_pages(outcome, student, work, problem), False
        except BoxRefused:
            raise
        except BoxLost as fault:
            outcome, timed_out = _ungraded(fault), False
        except Exception as fault:  # a check with a bug must not cost the student anything, or stop the rest
            return _ungraded(fault), False
    assert outcome is not None
    return outcome, timed_out


def _from_pages(outcome: Outcome, student: _Student | None, work: Work, problem: Problem) -> Outcome:
    """A sheet that cannot be read at all was never cut into parts, so nothing of it was judged."""
    if student is None or not student.read_sheet or isinstance(work.sheet, StudentFault):
        return outcome
    return from_pages(outcome, work.sheet, problem.id)


def _ungraded(fault: Exception) -> Outcome:
    cause = f"{type(fault).__name__}: {quote(str(fault))}"
    message = "this could not be graded; the fault is the grader's, not the submission's"
    return Outcome(Status.UNGRADED, Fraction(0), message, detail=cause)
