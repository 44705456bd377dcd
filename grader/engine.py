"""The one loop: every check of every problem, each in a fresh box, none able to stop the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from grader.alternatives import files_there, handed_in, sheet_of, undecided, worth_trying
from grader.answers import about, answer_to
from grader.draw import Draw
from grader.errors import BoxLost, BoxRefused, Killed, StudentFault, TimedOut
from grader.from_pages import from_pages
from grader.judged import Judging
from grader.model import (
    Alternative,
    Answer,
    Answers,
    Box,
    Check,
    CheckResult,
    Limits,
    Outcome,
    Problem,
    ProblemResult,
    Report,
    Rubric,
    Runner,
    Status,
    Submission,
)
from grader.quoting import quote
from grader.shown import as_shown, concealed, from_fault, with_output
from grader.stubs import not_started

_ATTEMPTS = 2  # a limit of time, a kill, or a fork server that went away, gets a second try before it counts

_PRINTED_CHARACTERS = 2000

Progress = Callable[[Problem, Check], None]
Finished = Callable[[ProblemResult], None]


class _Work:
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

    def __init__(self, box: Box, work: _Work, problem: Problem, beside: tuple[str, ...]) -> None:
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


def grade(
    rubric: Rubric,
    submission: Submission,
    runner: Runner,
    draw: Draw,
    *,
    notes: tuple[str, ...] = (),
    progress: Progress = lambda problem, check: None,
    finished: Finished = lambda result: None,
) -> Report:
    """Grade a submission. Always returns a report; raises only if no box can be made at all."""
    began = time.perf_counter()
    submission = submission.for_rubric(rubric)
    work = _Work(submission, rubric)
    judging = Judging(submission, lambda: work.sheet)
    problems: list[ProblemResult] = []
    for problem in rubric.problems:
        result = _grade_problem(rubric, problem, work, runner, draw, progress)
        problems.append(replace(result, judged=judging.of(problem, result.chosen)))
        finished(problems[-1])
    seconds = time.perf_counter() - began
    return Report(
        submission.name,
        rubric,
        draw.seed,
        tuple(problems),
        runner.isolation,
        seconds,
        (*dict.fromkeys((*notes, *submission.notes)), *work.notes, *draw.notes),
        draw.fingerprint,
    )


def _grade_problem(
    rubric: Rubric, problem: Problem, work: _Work, runner: Runner, draw: Draw, progress: Progress
) -> ProblemResult:
    def graded(alternative: Alternative | None, *before: CheckResult) -> ProblemResult:
        return _grade_checks(rubric, problem, alternative, before, work, runner, draw, progress)

    if not problem.alternatives:
        return graded(None)
    if problem.best_counts and (worthy := worth_trying(problem, work.submission)):
        return best([graded(alternative) for alternative in worthy])
    found = _alternatives(rubric, problem, work, runner, draw)
    if len(found) == 1:
        return graded(found[0])
    there = files_there(problem, work.submission)
    return graded(None, undecided(problem, found, lambda outcome, check: as_shown(outcome, check, draw.seed), there))


def best(tried: Sequence[ProblemResult]) -> ProblemResult:
    """The result that earns most; among equals, one that was handed in, then the one that needs a person least. Where
    something could not be graded, only full marks count instead."""

    def worth(result: ProblemResult) -> tuple[Fraction, bool, int]:
        settled = sum(one.outcome.status is Status.PASSED for one in result.checks)
        return result.points, result.status is not Status.MISSING, settled

    found = max(tried, key=worth)
    ungraded = [result for result in tried if result.status is Status.UNGRADED]
    return ungraded[0] if ungraded and found.points < found.problem.points else found


def _grade_checks(
    rubric: Rubric,
    problem: Problem,
    alternative: Alternative | None,
    before: tuple[CheckResult, ...],
    work: _Work,
    runner: Runner,
    draw: Draw,
    progress: Progress,
) -> ProblemResult:
    """The problem's own checks after those of the alternative; results found before them count too."""
    results = list(before)
    gates: list[str] = []
    for check in (*(alternative.checks if alternative else ()), *problem.checks):
        progress(problem, check)
        began, timed_out = time.perf_counter(), False
        outcome = blocked(check, gates, results)
        if outcome is None:
            # Code that has run out of time twice does so by itself: other checks need no second try.
            attempts = 1 if work.slow_in else _ATTEMPTS
            beside = alternative.beside if alternative else ()
            outcome, timed_out = _judge(rubric, problem, check, beside, work, runner, draw, attempts)
            work.took(time.perf_counter() - began, timed_out, problem, check)
        results.append(
            CheckResult(
                check=check,
                outcome=as_shown(outcome, check, draw.seed),
                points=check.points * outcome.score,
                seconds=time.perf_counter() - began,
                fault=outcome.detail if outcome.status is Status.UNGRADED else "",
                timed_out=timed_out,
            )
        )
        if check.gate:
            gates.append(check.id)
    points = sum((result.points for result in results), Fraction(0))
    chosen = alternative.name if alternative else ""
    return ProblemResult(problem, status_of(results, points, problem.points), points, tuple(results), chosen)


def _alternatives(rubric: Rubric, problem: Problem, work: _Work, runner: Runner, draw: Draw) -> list[Alternative]:
    for _ in range(_ATTEMPTS):
        try:
            with runner.open(work.submission, problem.limits, draw.student(rubric.name)) as box:
                return handed_in(problem, work.submission, box)
        except (Killed, BoxLost):
            continue
    raise BoxLost(f"{problem.id}: the box that looks at what was handed in ended {_ATTEMPTS} times")


def blocked(check: Check, gates: list[str], results: list[CheckResult]) -> Outcome | None:
    """Skipped if a check it needs did not pass; ungraded if that was our fault. A gate is needed by all below it."""
    by_id = {result.check.id: result.outcome.status for result in results}
    waiting = [needed for needed in (*gates, *check.needs) if by_id[needed] not in (Status.PASSED, Status.REVIEW)]
    for needed in waiting:
        if by_id[needed] is Status.UNGRADED:
            return Outcome(Status.UNGRADED, Fraction(0), f"{needed} could not be graded, and this check builds on it")
    if waiting:
        return Outcome(Status.SKIPPED, Fraction(0), f"not tried, because {waiting[0]} did not pass")
    return None


def _judge(
    rubric: Rubric,
    problem: Problem,
    check: Check,
    beside: tuple[str, ...],
    work: _Work,
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


def _from_pages(outcome: Outcome, student: _Student | None, work: _Work, problem: Problem) -> Outcome:
    """A sheet that cannot be read at all was never cut into parts, so nothing of it was judged."""
    if student is None or not student.read_sheet or isinstance(work.sheet, StudentFault):
        return outcome
    return from_pages(outcome, work.sheet, problem.id)


def _ungraded(fault: Exception) -> Outcome:
    cause = f"{type(fault).__name__}: {quote(str(fault))}"
    message = "this could not be graded; the fault is the grader's, not the submission's"
    return Outcome(Status.UNGRADED, Fraction(0), message, detail=cause)


def status_of(results: list[CheckResult], points: Fraction, max_points: Fraction) -> Status:
    """The status of a problem, from those of its checks; `skipped` where all its checks run later."""
    if not results:
        return Status.SKIPPED
    found = {result.outcome.status for result in results}
    for unsettled in (Status.UNGRADED, Status.REVIEW):
        if unsettled in found:
            return unsettled
    if points == max_points and found == {Status.PASSED}:
        return Status.PASSED
    if points:
        return Status.PARTIAL
    for fault in (Status.CRASHED, Status.FAILED, Status.MISSING):
        if fault in found:
            return fault
    return Status.FAILED
