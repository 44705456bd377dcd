"""A submission while it is graded: its sandboxes, its answer sheet, the time its code took, and notes on how it ran."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property

from grader.answers import about
from grader.errors import StudentFault
from grader.grading.randomness import Draw
from grader.model import Answers, Box, Check, Problem, Rubric, Runner, Submission
from grader.submission.alternatives import sheet_of


@dataclass(eq=False)
class GradingState:
    rubric: Rubric
    submission: Submission
    runner: Runner
    draw: Draw
    share_boxes: bool
    progress: Callable[[Problem, Check], None]
    seconds: float = 0.0  # that checks took
    without_gpu: list[str] = field(default_factory=list)  # parts whose code asked for one
    slow_in: str = ""  # the check in which the code ran out of wall time, or out of the grader's patience

    @cached_property
    def sheet(self) -> Answers | StudentFault:
        """What was written or, once for all parts, why that is not known."""
        try:
            return sheet_of(self.submission, self.rubric)
        except StudentFault as fault:
            return fault

    def open_sandbox(self, problem: Problem) -> AbstractContextManager[Box]:
        """A fresh sandbox with the limits of the problem; with less patience, if the code has been slow before."""
        limits = problem.limits
        if self.slow_in:
            limits = replace(limits, wall_seconds=min(limits.wall_seconds, limits.hurried_wall_seconds))
        return self.runner.open(self.submission, limits, self.draw.student(self.rubric.name))

    def took(self, seconds: float, timed_out: bool, problem: Problem, check: Check) -> None:
        """Count the time that a check took; enough of it, and later checks get less."""
        self.seconds += seconds
        if not self.slow_in and (timed_out or self.seconds > problem.limits.patience_seconds):
            self.slow_in = f"{problem.id} {check.id}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the sheet's reader could not place, if a check asked for it; and what ran otherwise than at home."""
        about_sheet = about(self.sheet, self.rubric.parts) if "sheet" in self.__dict__ else ()
        if not self.without_gpu:
            return about_sheet
        parts = ", ".join(dict.fromkeys(self.without_gpu))
        return (*about_sheet, f"the code of {parts} asks for a GPU; there is none here, so it ran on the processor")
