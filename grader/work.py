"""A submission while it is graded: what is known of it after the checks so far."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from grader.alternatives import sheet_of
from grader.answers import about
from grader.errors import BoxLost, StudentFault
from grader.model import Answers, Check, Limits, Problem, Rubric, Submission
from grader.sharing import BoxInTurn


class Work:
    """A submission while it is graded: its answer sheet is read once, when the first check asks for it."""

    def __init__(
        self, submission: Submission, rubric: Rubric, share_boxes: bool, turn: BoxInTurn, aside: BoxInTurn
    ) -> None:
        self.submission = submission
        self.turn = turn
        self.aside = aside  # for problems that ask no code, so that the box in turn is there for the next that does
        self._rubric = rubric
        self._seconds = 0.0
        self.without_gpu: list[str] = []  # parts whose code asked for one
        self.slow_in = ""  # the check in which its code ran out of wall time, or of our patience
        self.shares_boxes = share_boxes  # until its code is seen to answer otherwise for having been asked before
        self._may_keep: dict[str, str] = {}  # files, and by what they may keep something from question to question

    @cached_property
    def sheet(self) -> Answers | StudentFault:
        """What was written or, once for all parts, why that is not known."""
        try:
            return sheet_of(self.submission, self._rubric)
        except StudentFault as fault:
            return fault

    def keeps_nothing(self, files: Sequence[str], limits: Limits) -> bool:
        """Whether the code in these files can keep nothing from one question to the next. It is read in a box, because
        reading may fail; in one where nothing has run that could answer for it. That box is there afterwards."""
        if not files:
            return False
        turn = self.turn
        if not turn.serves(limits, files):
            turn.close()
        for file in files:
            if file not in self._may_keep:
                try:
                    with turn.for_reading(limits) as box:
                        self._may_keep[file] = str(box.probe("what_it_may_keep", file))
                except (StudentFault, BoxLost) as fault:
                    self._may_keep[file] = type(fault).__name__
        return not any(self._may_keep[file] for file in files)

    def limits(self, problem: Problem) -> Limits:
        return problem.limits.hurried() if self.slow_in else problem.limits

    def took(self, seconds: float, timed_out: bool, problem: Problem, check: Check) -> None:
        """Note how long a check was kept by code of this submission."""
        self._seconds += seconds
        if not self.slow_in and (timed_out or self._seconds > problem.limits.patience_seconds):
            self.slow_in = f"{problem.id} {check.id}"

    def forget(self, seconds: float) -> None:
        """What a check is asked for the sake of sharing is no time that the code has kept us."""
        self._seconds -= seconds

    def patience(self) -> tuple[float, str]:
        return self._seconds, self.slow_in

    def share_nothing(self, patience: tuple[float, str]) -> None:
        """Ask one check at a time from here on, with the patience that there was then."""
        self.shares_boxes = False
        self._seconds, self.slow_in = patience

    @property
    def notes(self) -> tuple[str, ...]:
        """What the sheet's reader could not place, if any check asked for it; and what ran otherwise than at home."""
        about_sheet = about(self.sheet, self._rubric.parts) if "sheet" in self.__dict__ else ()
        if not self.without_gpu:
            return about_sheet
        parts = ", ".join(dict.fromkeys(self.without_gpu))
        return (*about_sheet, f"the code of {parts} asks for a GPU; there is none here, so it ran on the processor")
