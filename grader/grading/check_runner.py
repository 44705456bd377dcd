"""Runs the checks of one problem: which sandbox each asks, how often it may try, and whose fault it is if it breaks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from grader.answers import answer_to
from grader.errors import BoxLost, BoxRefused, Killed, StudentFault, TimedOut, cause_for_staff
from grader.grading.concealment import concealed, from_fault, with_output
from grader.grading.grading_state import GradingState
from grader.grading.groups import Group, OpenSandbox, group_of, opens_its_group
from grader.grading.pdf_caution import from_pages
from grader.grading.randomness import place_of
from grader.model import Answer, Box, Check, Outcome, Probe, Problem, Status
from grader.quoting import quote
from grader.submission.not_started import not_started
from grader.submission.starter_code import not_begun

_ATTEMPTS = 2
_MAY_PASS_AGAIN = (TimedOut, Killed, BoxLost)  # a second try before it counts
_PRINTED_CHARACTERS = 2000


class Judgement(NamedTuple):
    outcome: Outcome
    seconds: float  # of what counts: a try in a shared sandbox that does not count is not the student's time
    timed_out: bool = False


class _Student:
    """What one check sees: a sandbox, and what was submitted next to code."""

    def __init__(self, runner: CheckRunner, check: Check, box: Box) -> None:
        self._runner = runner
        self._check = check
        self.box = box
        self._printed_before = len(box.printed)  # by other checks of a group
        self.asked_code = False
        self.read_sheet = False

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        self.asked_code = True
        return self.box.call(file, function, *args, **kwargs)

    def probe(self, probe: str | Probe, file: str, /, **request: Any) -> Any:
        self.asked_code = True
        return self.box.probe(probe, file, **request)

    def probe_each(self, probe: str | Probe, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        self.asked_code = True
        return self.box.probe_each(probe, file, requests)

    @property
    def printed(self) -> str:
        return self.box.printed[self._printed_before :]

    @property
    def shown_output(self) -> str:
        return quote(self.printed, _PRINTED_CHARACTERS) if self.asked_code else ""

    def read(self, file: str) -> bytes:
        return self._runner.state.submission.read(file)

    @property
    def answer(self) -> Answer:
        self.read_sheet = True
        return answer_to(self._runner.problem, self._runner.state.sheet)

    def in_common(self, name: str, make: Callable[[Any], Any]) -> Any:
        self.asked_code = True  # what other checks asked the sandbox is in it
        place, shared = self._runner.place(f"{self._check.visibility} {name}"), self._runner.sandbox.in_common
        if place not in shared:
            shared[place] = make(np.random.default_rng(self._runner.state.draw.questions(place)))
        return shared[place]


@dataclass(eq=False)
class CheckRunner:
    """The checks of one problem, one after the other."""

    state: GradingState
    problem: Problem
    may_share: bool = True  # until a check does not pass
    sandbox: OpenSandbox = field(default_factory=OpenSandbox)
    shared: set[str] = field(default_factory=set)  # checks of values that passed where others had asked before

    def judge(self, check: Check) -> Judgement:
        """What the check finds, and whether there was anything to judge."""
        judgement = self._judged(check)
        return judgement._replace(outcome=not_begun(judgement.outcome, check, self.state.submission, self.state.rubric))

    def _judged(self, check: Check) -> Judgement:
        """What the check finds: in the sandbox of its group as far as that counts, otherwise in a fresh one."""
        group = group_of(check) if self.may_share and not self.state.slow_in else None
        if group is not None and group == self.sandbox.group:
            began = time.perf_counter()
            if (outcome := self._in_shared_sandbox(check, group)) is not None:
                if group.kind == "values":
                    self.shared.add(check.id)
                return Judgement(outcome, time.perf_counter() - began)
            self.may_share = False  # code that fails here gets no second try in another sandbox of its group
        opens = group if group and self.may_share and opens_its_group(check) else None
        judgement = self._in_new_sandbox(check, opens)
        still_open = self.sandbox.group  # None after a crash, too
        if judgement.outcome.status is not Status.PASSED and (still_open is None or still_open.kind == "values"):
            self.may_share = False  # code that tries its luck again in every process must not keep what passed
        if opens is None or not self.may_share:
            self.sandbox.close()
        return judgement

    def _in_shared_sandbox(self, check: Check, group: Group) -> Outcome | None:
        """What the check finds in a sandbox that other checks have asked; None if that does not count."""
        box = self.sandbox.box
        assert box is not None
        box.begin_check()
        student = _Student(self, check, box)
        try:
            outcome = self._found(check, student)
        except BoxRefused:
            raise
        except Exception as fault:  # running in a fresh one tells whose fault it is
            self.sandbox.close(fault)
            return None
        if outcome.status is Status.PASSED or group.kind == "draws" or not student.asked_code:
            return outcome
        return None

    def _in_new_sandbox(self, check: Check, opens: Group | None) -> Judgement:
        """What the check finds in a fresh sandbox, which stays open for the group that it `opens`."""
        began = time.perf_counter()
        # Code that has run out of time twice does so by itself: other checks need no second try.
        attempts = 1 if self.state.slow_in else _ATTEMPTS
        for left in reversed(range(attempts)):
            student: _Student | None = None
            try:
                box = self.sandbox.replace(self.state.open_sandbox(self.problem), opens)
                student = _Student(self, check, box)
                return Judgement(self._found(check, student), time.perf_counter() - began)
            except BoxRefused:
                raise
            except Exception as fault:
                outcome, timed_out = self._blamed(fault, check, student), isinstance(fault, TimedOut)
                self.sandbox.close(fault)
                if not left or not isinstance(fault, _MAY_PASS_AGAIN):
                    break
        return Judgement(outcome, time.perf_counter() - began, timed_out)

    def place(self, name: str) -> str:
        return place_of(self.state.rubric.name, self.problem.id, name)

    def _found(self, check: Check, student: _Student) -> Outcome:
        # Two streams: student code can read its own, and must not learn from it which check this is or what it asks.
        rng = np.random.default_rng(self.state.draw.questions(self.place(check.id)))
        try:
            outcome = check.function(student, rng, **check.parameters)
        finally:
            if student.box.lacked_a_gpu and check.visibility == "public":  # what hidden checks ask is not reported
                self.state.without_gpu.append(self.problem.id)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"{check.function.__name__} returned {type(outcome).__name__}, not an Outcome")
        if check.visibility == "hidden" and student.asked_code:
            outcome = concealed(outcome)
        return self._completed(outcome, student)

    def _blamed(self, fault: Exception, check: Check, student: _Student | None) -> Outcome:
        """The outcome of a check that broke off. A check with a bug must not cost the student anything."""
        if not isinstance(fault, StudentFault):
            cause = cause_for_staff(fault, check.function)
            message = "this could not be graded; the fault is the grader's, not the submission's"
            return Outcome(Status.UNGRADED, Fraction(0), message, detail=cause, code="grader_fault")
        outcome = from_fault(not_started(fault, check, self.state.submission), check)
        if isinstance(fault, TimedOut) and self.state.slow_in:
            late = f"{outcome.message}; it took too long already in {self.state.slow_in}"
            outcome = replace(outcome, message=late)
        return self._completed(outcome, student) if student else outcome

    def _completed(self, outcome: Outcome, student: _Student) -> Outcome:
        """With what the code printed and, of a sheet that was cut into parts, the pages that were read."""
        outcome = with_output(outcome, student.shown_output)
        if not student.read_sheet or isinstance(self.state.sheet, StudentFault):
            return outcome
        return from_pages(outcome, self.state.sheet, self.problem.id)
