"""Work that was made for another assignment: said in one note and left to a person, instead of a silent zero.

Nobody is accused lightly: a submission that earned something, or in which there is hardly anything, is graded as it is.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from grader.errors import RubricError
from grader.model import CheckResult, Report, Rubric, Status
from grader.rubric.loading import load_rubric, rubric_choices
from grader.submission.alternatives import on_the_sheet, sheet_of
from grader.submission.file_choice import paths_of, states
from grader.submission.opening import OpenedSubmission

_HARDLY_ANYTHING = 3  # files and answers; all samples but two have 3 to 28 for their own assignment
_FAR_BETTER = 3  # times as many; samples with answers reach 3.3 and more for their own over the other assignment
_EARNED_LITTLE = Fraction(1, 10)  # of the maximum: samples earn 0 to 6 % in the assignment they were not made for


class _Fit(NamedTuple):
    """How much of what a rubric asks for is there: files that hold it, and answers that are plainly labelled."""

    files: int
    answers: int
    asked: int  # files and answers in all

    @property
    def size(self) -> int:
        return self.files + self.answers

    def __str__(self) -> str:
        return f"{self.files} files and {self.answers} answers"


def foresee_other_assignment(rubric: Rubric, submission: OpenedSubmission) -> None:
    """Load the other rubric that a submission names: its report will ask for it, and libraries still load meanwhile."""
    if named := _named(rubric, submission):
        _loaded(named)


def _named(rubric: Rubric, submission: OpenedSubmission) -> str | None:
    is_other = submission.rubric != rubric.name and submission.rubric in rubric_choices()
    return submission.rubric if is_other else None


def with_other_assignment(report: Report, submission: OpenedSubmission) -> Report:
    """The report; where the work was made for another assignment, with a note, and what earned nothing for review."""
    rubric = report.rubric
    named = _named(rubric, submission)
    is_whole = len(rubric.problems) == len(rubric.parts)
    if not named and not (is_whole and report.points <= _EARNED_LITTLE * report.max_points):
        return report
    own = _fit(rubric, submission)
    others = [named] if named else [name for name in rubric_choices() if name != rubric.name]
    fits = {name: _fit(other, submission) for name in others if (other := _loaded(name)) is not None}
    if not fits:
        return report
    name, other_fit = max(fits.items(), key=lambda item: item[1].size)
    # A course's own rubric may ask for a few files of many: whoever handed in half of them meant this assignment.
    fits_here = 2 * own.size >= own.asked
    if other_fit.size >= max(_HARDLY_ANYTHING, _FAR_BETTER * own.size) and not fits_here:
        says = "submission.yaml names it; " if named else ""
        asked = f"{other_fit} that it asks for are here, and of {rubric.name} {own}"
        return _for_review(report, f"this looks like work for {name} ({says}{asked}); a person decides")
    if not named:
        return report
    note = f"submission.yaml names {name}, and this was graded as {rubric.name}"
    if other_fit.size > own.size:
        return _for_review(report, f"{note}; a person decides whether it was meant for that")
    return replace(report, notes=(note, *report.notes))


@lru_cache(maxsize=8)
def _loaded(name: str) -> Rubric | None:
    try:
        return load_rubric(rubric_choices()[name])
    except RubricError:  # another assignment's fault is nobody's here
        return None


def _fit(rubric: Rubric, opened: OpenedSubmission) -> _Fit:
    submission = opened.for_rubric(rubric)
    files = sum(_is_there(file, rubric, submission) for file in rubric.files_asked)
    asked = len(rubric.files_asked) + sum(map(on_the_sheet, rubric.problems))
    try:
        sheet = sheet_of(submission, rubric)
    except Exception:  # there is none, or it cannot be read: the report says so
        return _Fit(files, 0, asked)
    answered = {part for part, answer in sheet.parts.items() if any(piece.text.strip() for piece in answer.pieces)}
    return _Fit(files, len(answered - sheet.guessed), asked)


def _is_there(file: str, rubric: Rubric, submission: OpenedSubmission) -> bool:
    """A file of this name that, if it is code, defines something asked for: both assignments have an attention.py."""
    paths, names = paths_of(file, submission), rubric.definitions.get(file)
    written = (not names or "written" in states(submission.folder / path, names).values() for path in paths)
    return len(paths) > 1 or any(written)


def _for_review(report: Report, note: str) -> Report:
    """With parts that earned nothing for review; what earned something, or is optional and missing, stays as it is."""
    problems = [
        result
        if result.points or not result.max_points or result.status in (Status.REVIEW, Status.UNGRADED)
        else replace(result, status=Status.REVIEW, checks=tuple(map(_undecided, result.checks)))
        for result in report.problems
    ]
    return replace(report, problems=tuple(problems), notes=(note, *report.notes))


def _undecided(result: CheckResult) -> CheckResult:
    if result.outcome.status in (Status.PASSED, Status.REVIEW, Status.UNGRADED):
        return result
    return replace(result, outcome=replace(result.outcome, status=Status.REVIEW, score=Fraction(0)))
