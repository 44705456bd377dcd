"""A rubric as it is checked at home: its public checks, and how much is judged after the deadline.

Hidden checks run later. So does the judging of prose: at home students are told that a written answer is there, and not
which ideas were found in it, because ideas could be tried out one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.checks.formulas.readable import is_answered
from grader.grading.engine import status_of
from grader.model import Alternative, Check, Later, Problem, ProblemResult, Report, Rubric, Status
from grader.registry import defined, definition_of
from grader.report.points import shown


def at_home(rubric: Rubric) -> Rubric:
    problems = tuple(_at_home(problem) for problem in rubric.problems)
    points = sum((problem.points for problem in problems if not problem.optional), Fraction(0))
    return replace(rubric, problems=problems, points=points)


def _at_home(problem: Problem) -> Problem:
    own = _public(problem.checks)
    alternatives = tuple(
        replace(one, checks=_public(one.checks), later=_sum([one.later, _later(one.checks)]))
        for one in problem.alternatives
    )
    most = max((_points(one.checks) for one in alternatives), default=Fraction(0))
    later = _sum([problem.later, _later(problem.checks)])
    return replace(problem, points=_points(own) + most, checks=own, alternatives=alternatives, later=later)


def _public(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    kept: dict[str, Check] = {}
    for check in checks:
        if defined(check).prose:
            kept[is_answered.__name__] = _is_answered(check)
        elif check.visibility == "public":
            needs = tuple(needed for needed in check.needs if needed in kept)
            kept[check.id] = replace(check, needs=needs, review_unless={})  # at home nobody reviews
    return tuple(kept.values())


def _is_answered(prose: Check) -> Check:
    known = definition_of(is_answered)
    assert known is not None
    in_common = {name: value for name, value in prose.parameters.items() if name in known.parameters}
    return Check(known.name, is_answered, in_common, known.summary, Fraction(0))


def _later(checks: tuple[Check, ...]) -> Later:
    judged_later = [check for check in checks if check.visibility == "hidden" or defined(check).prose]
    here = {file for check in checks if check not in judged_later for file in check.files}
    asked = dict.fromkeys(file for check in judged_later for file in check.files if file not in here)
    return Later(len(judged_later), _points(judged_later), tuple(asked))


def _sum(several: Sequence[Later]) -> Later:
    return Later(
        sum(one.checks for one in several),
        sum((one.points for one in several), Fraction(0)),
        tuple(dict.fromkeys(file for one in several for file in one.files)),
    )


def _points(checks: Sequence[Check]) -> Fraction:
    return sum((check.points for check in checks), Fraction(0))


def is_judged(check: Check) -> bool:
    known = definition_of(check.function)  # the engine's own complaint about alternatives is defined nowhere
    return known is None or known.judges


def status_here(result: ProblemResult) -> Status | None:
    """A problem's status by what is judged at home; None if that is nothing."""
    judged = [one for one in result.checks if is_judged(one.check)]
    if judged:
        return status_of(judged, result.points, extent_of(result).points)
    if not result.checks:  # all of it is judged later; that there is nothing to judge is known here, too
        return Status.MISSING if result.status is Status.MISSING else None
    amiss = [one.outcome.status for one in result.checks if one.outcome.status is not Status.PASSED]
    return amiss[0] if amiss else None


@dataclass(frozen=True)
class Extent:
    """How much was judged, and how much is left for later."""

    checks: int
    points: Fraction
    later: Later

    def __str__(self) -> str:
        later, whole = self.later, self.points + self.later.points
        every = self.checks + later.checks
        if not later.checks:
            return f"all {every} checks are public ({shown(whole)} points)"
        public = f"{self.checks} of {every} checks {'is' if self.checks == 1 else 'are'} public"
        run = "runs" if later.checks == 1 else "run"
        return f"{public}; {later.checks} {run} after the deadline ({shown(later.points)} of {shown(whole)} points)"


def extent_of(result: ProblemResult) -> Extent:
    """Of the alternative that was handed in or, if there is none, of the one of which most is judged here."""
    problem = result.problem
    chosen = [one for one in problem.alternatives if one.name == result.chosen] or list(problem.alternatives)
    one = max(chosen, key=lambda one: _points(one.checks), default=_NONE)
    checks = [check for check in (*one.checks, *problem.checks) if is_judged(check)]
    return Extent(len(checks), _points(checks), _sum([problem.later, one.later]))


_NONE = Alternative("", (), (), (), ())


def is_left_out(result: ProblemResult) -> bool:
    """An optional problem for which nothing was handed in counts nowhere."""
    return result.problem.optional and result.status is Status.MISSING


def extent(report: Report) -> Extent:
    parts = [extent_of(result) for result in report.problems if not is_left_out(result)]
    return Extent(
        sum(part.checks for part in parts),
        sum((part.points for part in parts), Fraction(0)),
        _sum([part.later for part in parts]),
    )
