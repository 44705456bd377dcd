"""A rubric as it is checked at home: its public checks, and how much is judged after the deadline.

Hidden checks run later. So does the judging of prose: at home students are told that a written answer is there and can
be read, and not which ideas were found in it, because ideas could be tried out one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.checks.prose import answer_can_be_read, gives_the_ideas
from grader.engine import status_of
from grader.model import Alternative, Check, CheckResult, Later, Problem, ProblemResult, Report, Rubric, Status
from grader.report.points import shown


def at_home(rubric: Rubric) -> Rubric:
    problems = tuple(_at_home(problem) for problem in rubric.problems)
    points = sum((problem.points for problem in problems if not problem.optional), Fraction(0))
    return replace(rubric, problems=problems, points=points)


def _at_home(problem: Problem) -> Problem:
    own = _public(problem.checks)
    alternatives = tuple(replace(one, checks=_public(one.checks)) for one in problem.alternatives)
    later = [_later(problem.checks), max(map(_later, _lists(problem.alternatives)), key=_size), problem.later]
    most = max((_points(checks) for checks in _lists(alternatives)), default=Fraction(0))
    return replace(
        problem,
        points=_points(own) + most,
        checks=own,
        alternatives=alternatives,
        later=Later(
            sum(one.checks for one in later),
            sum((one.points for one in later), Fraction(0)),
            tuple(dict.fromkeys(file for one in later for file in one.files)),
        ),
    )


def _lists(alternatives: Sequence[Alternative]) -> list[tuple[Check, ...]]:
    return [one.checks for one in alternatives] or [()]


def _public(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    kept: dict[str, Check] = {}
    for check in checks:
        if check.function is gives_the_ideas:
            if not any(one.function is answer_can_be_read for one in kept.values()):
                kept[check.id] = _only_read(check)
        elif check.visibility == "public":
            kept[check.id] = replace(check, needs=tuple(needed for needed in check.needs if needed in kept))
    return tuple(kept.values())


def _only_read(check: Check) -> Check:
    """In place of a judge of prose."""
    prompt = {"prompt": check.parameters["prompt"]} if "prompt" in check.parameters else {}
    summary = (answer_can_be_read.__doc__ or "").split("\n")[0]
    return Check(answer_can_be_read.__name__, answer_can_be_read, prompt, summary, Fraction(0))


def _later(checks: tuple[Check, ...]) -> Later:
    judged_later = [check for check in checks if check.visibility == "hidden" or check.function is gives_the_ideas]
    asked = {file for check in judged_later for file in check.files}
    here = {file for check in checks if check not in judged_later for file in check.files}
    return Later(len(judged_later), _points(judged_later), tuple(sorted(asked - here)))


def _size(later: Later) -> tuple[Fraction, int]:
    return later.points, later.checks


def _points(checks: Sequence[Check]) -> Fraction:
    return sum((check.points for check in checks), Fraction(0))


def is_judged(result: CheckResult) -> bool:
    """Whether a verdict was reached, and not only a look taken at whether something is there."""
    return result.check.function is not answer_can_be_read


def status_here(result: ProblemResult) -> Status | None:
    """A problem's status by what is judged at home; None if that is nothing."""
    judged = [one for one in result.checks if is_judged(one)]
    if judged:
        return status_of(judged, result.points, result.problem.points)
    looked_at = {one.outcome.status for one in result.checks} - {Status.REVIEW}
    return min(looked_at) if looked_at else None


@dataclass(frozen=True)
class Extent:
    """How much of the rubric was judged, and how much is left for later."""

    checks: int
    checks_later: int
    points: Fraction
    points_later: Fraction

    def __str__(self) -> str:
        whole = self.points + self.points_later
        every = self.checks + self.checks_later
        if not self.checks_later:
            return f"all {every} checks are public ({shown(whole)} points)"
        ran = f"{self.checks} of {every} checks {'is' if self.checks == 1 else 'are'} public"
        runs = "runs" if self.checks_later == 1 else "run"
        later = f"{self.checks_later} {runs} after the deadline ({shown(self.points_later)} of {shown(whole)} points)"
        return f"{ran}; {later}"


def extent(report: Report) -> Extent:
    """Optional problems count only where something was handed in for them."""
    counted = [one for one in report.problems if one.max_points or not one.problem.optional or _is_there(one)]
    return Extent(
        checks=sum(_checks(one) for one in counted),
        checks_later=sum(one.problem.later.checks for one in counted),
        points=sum((one.problem.points for one in counted), Fraction(0)),
        points_later=sum((one.problem.later.points for one in counted), Fraction(0)),
    )


def _is_there(result: ProblemResult) -> bool:
    return result.status is not Status.MISSING


def _checks(result: ProblemResult) -> int:
    """Of the alternative that was handed in, or else of the longest."""
    problem = result.problem
    chosen = [one.checks for one in problem.alternatives if one.name == result.chosen]
    longest = max(chosen or _lists(problem.alternatives), key=len)
    return sum(check.function is not answer_can_be_read for check in (*longest, *problem.checks))
