"""Which rubric a submission is graded by, and which of its problems."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader.errors import StudentFault, UsageError
from grader.model import Rubric
from grader.plugins import Plugin
from grader.quoting import quote
from grader.rubric.locating import find_rubric, rubric_choices
from grader.rubric.part_names import parts_meant
from grader.submission.opening import OpenedSubmission


def choose_rubric(named: str | None, submission: OpenedSubmission, handed_in: Path) -> Path:
    """The one staff name, else the one the submission names, else the one that fits what was handed in."""
    if named is not None:
        rubric = find_rubric(named)
        refuse_rubric_inside(rubric, handed_in)
        _refuse_code_beside(rubric, handed_in)
        return rubric
    if submission.rubric is not None:
        try:
            return find_rubric(submission.rubric, by_staff=False)
        except UsageError as error:
            raise UsageError(f"submission.yaml: {error}") from None
    from grader.rubric.loading import load_rubric  # here: with it come all libraries that check a rubric

    fitting: dict[str, int] = {}
    choices = rubric_choices()
    for name, path in choices.items():
        fitting[name] = _files_found(load_rubric(path), submission)
    best = max(fitting.values(), default=0)
    names = [name for name, found in fitting.items() if found == best]
    if not best or len(names) > 1:
        which = "several rubrics fit" if best else "no rubric fits what was handed in"
        raise UsageError(f"{which}; choose one with --rubric: {', '.join(sorted(choices)) or 'there are none here'}")
    return choices[names[0]]


def refuse_rubric_inside(rubric: Path, handed_in: Path) -> None:
    """What lies where students put their files may be a student's own, and a rubric can bring code."""
    work, brought = handed_in.resolve(), (rubric, *Plugin(rubric.parent).files)
    inside = (path for path in brought if path.resolve().is_relative_to(work))
    if work.is_dir() and (found := next(inside, None)):
        cause = "it lies inside what is graded, so it may be a student's"
        raise UsageError(f"{quote(str(found))}: {cause}; move the rubric elsewhere")


def _refuse_code_beside(rubric: Path, handed_in: Path) -> None:
    """One file of a student's lies among the student's other files; a folder may be a part of what was handed in."""
    code, work = next(iter(Plugin(rubric.parent).files), None), handed_in.resolve()
    if code is None:
        return
    if work.parent == rubric.resolve().parent if work.is_dir() else code.resolve().is_relative_to(work.parent):
        cause = f"its {code.name} lies beside what is graded, so it may be a student's, and it would run outside the"
        raise UsageError(f"{quote(str(rubric))}: {cause} sandbox; move the rubric elsewhere")


def _files_found(rubric: Rubric, submission: OpenedSubmission) -> int:
    submission = submission.for_rubric(rubric)
    asked = {file for problem in rubric.problems for check in problem.every_check for file in check.files}
    found = 0
    for file in asked:
        try:
            submission.find(file)
        except StudentFault:
            continue
        found += 1
    return found


def only(rubric: Rubric, wanted: list[str]) -> Rubric:
    """The rubric with only these parts (2.1) or groups of them (2), however they are written; with all of them, if none
    is named."""
    if not wanted:
        return rubric
    ids = [problem.id for problem in rubric.problems]
    chosen: set[str] = set()
    for want in wanted:
        meant = parts_meant(want, ids)
        if not meant:
            raise UsageError(f"{rubric.name} has no part '{quote(want, 40)}'; it has {', '.join(ids)}")
        chosen.update(meant)
    return replace(rubric, problems=tuple(problem for problem in rubric.problems if problem.id in chosen))
