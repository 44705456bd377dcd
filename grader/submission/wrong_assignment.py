"""Work that was made for another assignment: said in one note and left to a person, instead of a silent zero.

Nobody is accused lightly: a submission that earned something, or in which there is hardly anything, is graded as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from grader.errors import Ambiguous, RubricError, StudentFault
from grader.model import CheckResult, ProblemResult, Report, Rubric, Status
from grader.rubric.loading import load_rubric, rubric_choices
from grader.submission.alternatives import on_the_sheet, sheet_of
from grader.submission.file_choice import states
from grader.submission.opening import OpenedSubmission

_HARDLY_ANYTHING = 3  # files and answers; all samples but two have 3 to 28 for their own assignment
_FAR_BETTER = 3  # times as many; samples with answers reach 3.3 and more for their own over the other assignment
_EARNED_LITTLE = Fraction(1, 10)  # of the maximum: samples earn 0 to 6 % in the assignment they were not made for


@dataclass(frozen=True)
class _Fit:
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
    if submission.rubric in (None, rubric.name) or submission.rubric not in rubric_choices():
        return None
    return submission.rubric


def with_other_assignment(report: Report, submission: OpenedSubmission) -> Report:
    """The report; where the work was made for another assignment, with a note, and what earned nothing for a person."""
    rubric = report.rubric
    named = _named(rubric, submission)
    suspicious = len(rubric.problems) == len(rubric.parts) and report.points <= _EARNED_LITTLE * report.max_points
    if named is None and not suspicious:
        return report
    own = _fit(rubric, submission)
    others = [named] if named is not None else [name for name in rubric_choices() if name != rubric.name]
    fits = {name: _fit(other, submission) for name in others if (other := _loaded(name)) is not None}
    name = max(fits, key=lambda one: fits[one].size, default="")
    if not name:
        return report
    found, says = fits[name], "submission.yaml names it; " if named else ""
    # A course's own rubric may ask for a few files of many: whoever handed in half of them meant this assignment.
    fits_here = 2 * own.size >= own.asked
    if found.size >= _HARDLY_ANYTHING and found.size >= _FAR_BETTER * own.size and not fits_here:
        asked = f"{found} that it asks for are here, and of {rubric.name} {own}"
        return _for_a_person(report, f"this looks like work for {name} ({says}{asked}); a person decides")
    if named is None:
        return report
    note = f"submission.yaml names {name}, and this was graded as {rubric.name}"
    if found.size > own.size:
        return _for_a_person(report, f"{note}; a person decides whether it was meant for that")
    return replace(report, notes=(note, *report.notes))


@lru_cache(maxsize=8)
def _loaded(name: str) -> Rubric | None:
    try:
        return load_rubric(rubric_choices()[name])
    except RubricError:  # another assignment's fault is nobody's here
        return None


def _fit(rubric: Rubric, handed_in: OpenedSubmission) -> _Fit:
    submission = handed_in.for_rubric(rubric)
    asked = rubric.files_asked
    files = sum(_is_there(file, rubric, submission) for file in asked)
    most = len(asked) + sum(map(on_the_sheet, rubric.problems))
    try:
        sheet = sheet_of(submission, rubric)
    except Exception:  # there is none, or it cannot be read: the report says so
        return _Fit(files, 0, most)
    answered = [part for part, answer in sheet.parts.items() if any(piece.text.strip() for piece in answer.pieces)]
    return _Fit(files, len(set(answered) - sheet.guessed), most)


def _is_there(file: str, rubric: Rubric, submission: OpenedSubmission) -> bool:
    """A file of this name that, if it is code, defines something asked for: both assignments have an attention.py."""
    try:
        path = submission.find(file)
    except Ambiguous:
        return True
    except StudentFault:
        return False
    names = rubric.definitions.get(file)
    return not names or "written" in states(submission.folder / path, names).values()


def _for_a_person(report: Report, note: str) -> Report:
    return replace(report, problems=tuple(map(_left_to_a_person, report.problems)), notes=(note, *report.notes))


def _left_to_a_person(result: ProblemResult) -> ProblemResult:
    """What earned nothing; parts that earned something, and optional ones that were left out, stay as they are."""
    if result.points or not result.max_points or result.status in (Status.REVIEW, Status.UNGRADED):
        return result
    return replace(result, status=Status.REVIEW, checks=tuple(map(_undecided, result.checks)))


def _undecided(result: CheckResult) -> CheckResult:
    if result.outcome.status in (Status.PASSED, Status.REVIEW, Status.UNGRADED):
        return result
    outcome = result.outcome
    return replace(result, outcome=replace(outcome, status=Status.REVIEW, score=Fraction(0)))
