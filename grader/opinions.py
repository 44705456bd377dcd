"""What one check finds in a submission: whom it asks, how often it may try, and whose fault it is if that fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from grader.answers import answer_to
from grader.draw import Draw
from grader.errors import BoxLost, BoxRefused, Killed, StudentFault, TimedOut, cause_for_staff
from grader.from_pages import from_pages
from grader.known_streams import generator
from grader.model import Answer, Box, Check, Outcome, Problem, Rubric, Status
from grader.quoting import quote
from grader.sharing import BoxInTurn
from grader.shown import concealed, from_fault, with_output
from grader.stubs import not_started
from grader.turns import Turns
from grader.work import Work

_PRINTED_CHARACTERS = 2000
_LOOKED_AT_AGAIN = 8  # one submission in so many, of code that keeps nothing as far as reading it tells


class _AskedAhead(Exception):
    """What did not pass was found in a box that had been asked more than that."""


class _Student:
    """What one check sees: the box, and what was handed in beside code."""

    def __init__(self, box: Box, asking: Asking, check: Check) -> None:
        self._box = box
        self._asking = asking
        self._check = check
        self.beside = asking.beside
        self.asks_together = box.asks_together
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

    @property
    def shown_output(self) -> str:
        printed = self.printed
        return quote(printed, _PRINTED_CHARACTERS) if printed else ""

    @property
    def lacked_a_gpu(self) -> bool:
        return self._box.lacked_a_gpu

    @property
    def lost_answers(self) -> bool:
        return self._box.lost_answers

    @property
    def was_asked_ahead(self) -> bool:
        return self._box.was_asked_ahead

    def read(self, file: str) -> bytes:
        return self._asking.work.submission.read(file)

    @property
    def answer(self) -> Answer:
        self.read_sheet = True
        return answer_to(self._asking.problem, self._asking.work.sheet)

    def in_common(self, name: str, make: Callable[[Any], Any]) -> Any:
        self.saw_inputs = True  # what others asked the box is in it
        # By visibility: what a public check tells must not be what a hidden one asked.
        place, kept = self._asking.place(f"{self._check.visibility} {name}"), self._box.in_common
        if place not in kept:
            kept[place] = make(generator(self._asking.draw.questions(place)))
        return kept[place]


@dataclass(eq=False)
class Asking:
    """Where a check is asked: of which problem and work, with which draw, and how its box is come by."""

    rubric: Rubric
    problem: Problem
    work: Work
    draw: Draw
    turns: Turns
    beside: tuple[str, ...] = ()
    shared: list[tuple[Check, Outcome]] = field(default_factory=list)  # found in boxes that others had asked
    # Alone: who tries again in each process must not keep what passes.
    failed: list[Check] = field(default_factory=list)

    @cached_property
    def keeps_nothing(self) -> bool:
        """Whether the problem's code can keep nothing, so that no check is told from another by having come before."""
        if not self.work.shares_boxes or self.work.slow_in:
            return False
        return self.work.keeps_nothing(self.turns.files, self.work.limits(self.problem))

    @cached_property
    def turn(self) -> BoxInTurn:
        return self.work.turn if self.turns.asks_code else self.work.aside

    @contextmanager
    def begun(self) -> Iterator[None]:
        """While the problem is judged. Only code that keeps nothing takes a box over, and hands one on."""
        if not self.keeps_nothing:
            self.turn.close()
        yield
        if not self.keeps_nothing:
            self.turn.close()

    def judge(self, check: Check, attempts: int) -> tuple[Outcome, bool]:
        """What the check finds, and whether it ran out of time."""
        keeps_nothing = self.keeps_nothing
        shares = self.turns.may_share(check, keeps_nothing) and self.work.shares_boxes and not self.work.slow_in
        if not shares or (self.failed and not keeps_nothing):
            self.turn.close()
            return self._alone(check, False, attempts)
        if self._would_tell_what_hidden_ones_asked(check):
            self.turn.close()
        if self.turn.box is None or not self.turn.was_asked:
            return self._alone(check, True, attempts, ahead=True)
        began = time.perf_counter()
        self.work.shares_boxes = self.turn.hand_on(keeps_nothing)
        if self.work.shares_boxes and (first := self._first_opinion(check, self.turn.box)) is not None:
            self.shared.append((check, first))
            return first, False
        self.work.forget(time.perf_counter() - began)
        second, timed_out = self._alone(check, self.work.shares_boxes, attempts)
        # Alone it passes, after others it does not: such code is asked one check at a time from here on.
        self.work.shares_boxes &= second.status is not Status.PASSED
        return second, timed_out

    def _would_tell_what_hidden_ones_asked(self, check: Check) -> bool:
        """That the box's code asked for a GPU is noted of public checks; who asked first, the box does not say."""
        if self.turn.box is None or not self.turn.box.lacked_a_gpu or check.visibility != "public":
            return False
        order = self.turns.order
        return any(one.visibility == "hidden" for one in order[: order.index(check)])

    def stands(self) -> bool:
        """Whether what was found in shared boxes may count: other processes find the same.

        Code that chooses by chance when it is imported would keep a choice for as long as that passes; and code whose
        first answer in a process is wrong would give that to a check that looks at no values. Code that keeps nothing
        can do neither; for now and then a submission, which nobody can foretell, that is not taken for granted.
        """
        if not self.shared or not self.work.shares_boxes:  # or it was seen to keep something, or to choose
            return not self.shared
        if self.keeps_nothing:
            if self.draw.questions(f"{self.rubric.name}/{self.work.submission.name} read rightly") % _LOOKED_AT_AGAIN:
                return True
            return self._agrees(self.turn.elsewhere(self.work.limits(self.problem), self.turns.files), "alone")
        check, shared = self._one_that_shared("alone")
        alone, _ = self._alone(check, False, 2)
        return _same(alone, shared) and self.work.shares_boxes

    def _one_that_shared(self, place: str) -> tuple[Check, Outcome]:
        """The course's secret says which, so no code can know for which to behave."""
        return self.shared[self._drawn(place).integers(len(self.shared))]

    def _drawn(self, place: str) -> np.random.Generator:
        return generator(self.draw.questions(self.place(place)))

    def place(self, name: str) -> str:
        """What random numbers of the problem follow from, but for seed and secret."""
        return f"{self.rubric.name}/{self.problem.id}/{name}"

    def _agrees(self, box: Box, place: str) -> bool:
        """Whether another process, which is there anyway and has done its work, gives what the shared one gave."""
        if not self.shared:
            return True
        check, shared = self._one_that_shared(place)
        box.begin_check()
        try:
            return _same(self._found(check, _Student(box, self, check)), shared)
        except BoxRefused:
            raise
        except Exception:  # whatever it is, the checks are asked again alone
            return False

    def _first_opinion(self, check: Check, box: Box) -> Outcome | None:
        """What it finds in a box that other checks have asked; None if that does not count."""
        student = _Student(box, self, check)
        try:
            outcome = self._found(check, student)
        except BoxRefused:
            raise
        except Exception as fault:  # whatever it is, the second opinion says whose it is
            self.turn.close(fault)
            return None
        if box.is_spoiled:  # the check took what was not answered for an answer
            self.turn.close()
            return None
        if outcome.status is Status.PASSED or not student.saw_inputs:
            return outcome
        return None

    def _alone(self, check: Check, shares: bool, attempts: int, *, ahead: bool = False) -> tuple[Outcome, bool]:
        """What it finds in a box that nobody has asked anything. One that it passed in, others may use.

        Code that keeps nothing may be asked `ahead` what they will ask; then only a pass counts. The last attempt asks
        one question at a time: where code ends its box in the midst of several, what it had answered before counts.
        """
        outcome, timed_out = None, False
        for left in reversed(range(attempts)):
            student: _Student | None = None
            began = time.perf_counter()
            try:
                box = self.turn.fresh(self.work.limits(self.problem))
                box.asks_together = left > 0
                box.may_be_asked_ahead = ahead and shares and self.keeps_nothing and left > 0
                student = _Student(box, self, check)
                outcome = self._found(check, student)
                self.turn.was_asked = student.saw_inputs
                if box.was_asked_ahead and (outcome.status is not Status.PASSED or box.is_spoiled):
                    raise _AskedAhead
                if not shares and self.work.shares_boxes and student.saw_inputs and not self.keeps_nothing:
                    self.work.shares_boxes = self._agrees(box, check.id)
                if outcome.status is not Status.PASSED and student.saw_inputs:
                    self.failed.append(check)
                if not shares or (outcome.status is not Status.PASSED and not self.keeps_nothing):
                    self.turn.close()
                return outcome, False
            except Exception as fault:
                printed = student.shown_output if student else ""
                self.turn.close(fault)
                if student and student.was_asked_ahead and not isinstance(fault, BoxRefused):
                    self.work.forget(time.perf_counter() - began)
                    return self._alone(check, shares, attempts)
                self.failed.append(check)
                outcome, timed_out, is_final = self._blamed(fault, check, student, printed)
                if is_final and not (left and student and student.lost_answers):
                    break
        assert outcome is not None
        return outcome, timed_out

    def _found(self, check: Check, student: _Student) -> Outcome:
        # Two streams: student code can read its own, and must not learn from it which check this is or what it asks.
        questions = self._drawn(check.id)
        try:
            outcome = check.function(student, questions, **check.parameters)
        finally:
            if student.lacked_a_gpu and check.visibility == "public":  # what hidden checks ask tells nothing
                self.work.without_gpu.append(self.problem.id)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"{check.function.__name__} returned {type(outcome).__name__}, not an Outcome")
        if check.visibility == "hidden" and student.saw_inputs:
            outcome = concealed(outcome)
        printed = student.shown_output if student.saw_inputs else ""  # by this check: what did not pass was alone
        return self._from_pages(with_output(outcome, printed), student)

    def _blamed(
        self, fault: Exception, check: Check, student: _Student | None, printed: str
    ) -> tuple[Outcome, bool, bool]:
        """The outcome of a check that was broken off, whether it ran out of time, and whether no second try helps."""
        match fault:
            case BoxRefused():
                raise fault
            case TimedOut():
                outcome = with_output(from_fault(fault, check), printed)
                if self.work.slow_in:
                    late = f"{outcome.message}; it took too long already in {self.work.slow_in}"
                    outcome = replace(outcome, message=late)
                return outcome, True, False
            case Killed():
                return with_output(from_fault(fault, check), printed), False, False
            case StudentFault():
                started = not_started(fault, check, self.work.submission)
                return self._from_pages(with_output(from_fault(started, check), printed), student), False, True
            case BoxLost():
                return _ungraded(fault, check), False, False
        # a check with a bug must not cost the student anything, or stop the rest
        return _ungraded(fault, check), False, True

    def _from_pages(self, outcome: Outcome, student: _Student | None) -> Outcome:
        """A sheet that cannot be read at all was never cut into parts, so nothing of it was judged."""
        if student is None or not student.read_sheet or isinstance(self.work.sheet, StudentFault):
            return outcome
        return from_pages(outcome, self.work.sheet, self.problem.id)


def _same(one: Outcome, other: Outcome) -> bool:
    return (one.status, one.score, one.message) == (other.status, other.score, other.message)


def _ungraded(fault: Exception, check: Check) -> Outcome:
    cause = cause_for_staff(fault, check.function)
    message = "this could not be graded; the fault is the grader's, not the submission's"
    return Outcome(Status.UNGRADED, Fraction(0), message, detail=cause)
