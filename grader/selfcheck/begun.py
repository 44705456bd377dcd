"""What was begun: files that are no longer as the kit brought them, and parts for which there is anything at all."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath

from grader.errors import Missing, StudentFault
from grader.model import Answers, Problem, Rubric, is_code
from grader.submission.alternatives import is_there, sheet_of
from grader.submission.opening import OpenedSubmission
from grader.submission.starter_code import is_untouched, starter_digests


class Begun:
    """`rubric` is what is checked at home; beside it stands what students began with."""

    def __init__(self, submission: OpenedSubmission, rubric: Rubric) -> None:
        self._submission = submission.for_rubric(rubric)
        self._rubric = rubric

    @cached_property
    def untouched(self) -> list[str]:
        """Files of code that are still as they came, wherever they were moved to."""
        code = [file for file in self._submission.files if is_code(file)]
        starter = starter_digests(self._rubric)
        return [file for file in code if is_untouched(self._submission.folder / file, starter)]

    def has_begun(self, problem: Problem) -> bool:
        """A part that is judged later: whether it is on the sheet, or in a file it asks for, or, where it is not said
        here which, may be in any code that no other part asks for."""
        answers = self._answers
        if problem.id in answers.parts or problem.id in answers.unplaced or answers.pdf or answers.unread:
            return True
        if files := problem.later.files:
            untouched = {PurePosixPath(file).name for file in self.untouched}
            return any(is_there(file, self._submission) for file in files if file not in untouched)
        asked = set(self._rubric.files_asked)
        own = [file for file in self._submission.files if is_code(file) or file.endswith(".ipynb")]
        return any(file not in self.untouched and PurePosixPath(file).name not in asked for file in own)

    def asked_by(self, file: str) -> list[str]:
        """The parts that a file is known to be handed in for."""
        alone = {problem.id: replace(self._rubric, problems=(problem,)) for problem in self._rubric.problems}
        return [part for part, rubric in alone.items() if PurePosixPath(file).name in rubric.files_asked]

    @cached_property
    def _answers(self) -> Answers:
        try:
            return sheet_of(self._submission, self._rubric)
        except Missing:
            return Answers({})
        except StudentFault as fault:  # a person has to look
            return Answers({}, unread=fault.message)
