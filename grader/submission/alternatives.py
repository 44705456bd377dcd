"""Which of a problem's alternatives a submission holds: told by names in its code, then by other files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from grader.answers import read_answers
from grader.model import Alternative, Answers, Check, CheckResult, Outcome, Problem, Rubric, Status, Submission
from grader.submission.file_choice import paths_of, states


def handed_in(problem: Problem, submission: Submission) -> list[Alternative]:
    """The complete ones; with several, those whose other files are there too; with none, those whose files are."""
    complete = [one for one in problem.alternatives if _is_complete(one, submission)]
    accompanied = [one for one in problem.alternatives if any(is_there(file, submission) for file in one.beside)]
    return [one for one in complete if one in accompanied] or complete or accompanied


def worth_trying(problem: Problem, submission: Submission) -> list[Alternative]:
    """Where the best counts: all that could earn something. The written answer is asked for where there is no file."""
    return [
        one for one in problem.alternatives if not one.files or any(is_there(file, submission) for file in one.files)
    ]


def _is_complete(alternative: Alternative, submission: Submission) -> bool:
    """Whether one of its files defines all it should. Where several files fit one name, it is enough that one of them
    does: the checks then report that the TA decides."""
    for path in (path for file in alternative.files for path in paths_of(file, submission)):
        found = states(submission.folder / path, alternative.defines)
        if all(found.get(name, "written") == "written" for name in alternative.defines):
            return True
    return False


def sheet_of(submission: Submission, rubric: Rubric) -> Answers:
    """What was written, cut into the rubric's parts."""
    parts = rubric.parts or tuple(problem.id for problem in rubric.problems)
    in_code = [problem.id for problem in rubric.problems if not on_the_sheet(problem)]
    return read_answers(submission, parts, in_code, rubric.editions)


def on_the_sheet(problem: Problem) -> bool:
    """Whether it is answered in writing: its checks ask for no file."""
    if any(check.files for check in problem.checks):
        return False
    return any(not one.files for one in problem.alternatives) if problem.alternatives else bool(problem.checks)


def files_there(problem: Problem, submission: Submission) -> list[str]:
    files = dict.fromkeys(file for one in problem.alternatives for file in one.files)
    return [file for file in files if is_there(file, submission)]


def is_there(file: str, submission: Submission) -> bool:
    return bool(paths_of(file, submission))


ONE_ALTERNATIVE = "one_alternative"  # stands in for the checks of all of them


def undecided(
    problem: Problem,
    found: Sequence[Alternative],
    as_shown: Callable[[Outcome, Check], Outcome],
    there: Sequence[str] = (),
) -> CheckResult:
    """In place of the checks of an alternative when there is none, or more than one; `there` are files of theirs."""
    points = problem.points - sum((check.points for check in problem.checks), Fraction(0))
    check = stand_in(ONE_ALTERNATIVE, points, "One of the alternatives is handed in, and only one.")
    choices = "; ".join(f"{one.name}: {', '.join(one.defines)} in {one.files[0]}" for one in problem.alternatives)
    if found:
        names = " and ".join(one.name for one in found)
        message = f"{names} are both complete; a person decides which one counts, or hand in only one"
        status, code = Status.REVIEW, "several_alternatives"
    elif there:
        message = f"none of the alternatives is started in {' or '.join(there)} ({choices})"
        status, code = Status.MISSING, "not_started"
    else:
        message = f"none of the alternatives was handed in ({choices})"
        status, code = Status.MISSING, "no_alternative"
    outcome = Outcome(status, Fraction(0), message, code=code)
    return CheckResult(check, as_shown(outcome, check), Fraction(0), 0.0)


def stand_in(name: str, points: Fraction, summary: str = "") -> Check:
    """For a verdict that no check of the rubric made."""
    return Check(name, _never, {}, summary, points)


def _never(*_: object, **__: object) -> Outcome:
    raise AssertionError("it stands for checks that were not run")
