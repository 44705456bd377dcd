"""The self-check: faults of form first, then the public checks by the same engine, told as each problem is done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import grader.formulas.killable_child as killable_child
from grader.grading.engine import grade
from grader.grading.randomness import draw_at_home
from grader.model import Problem, ProblemResult, Report, Rubric, Status
from grader.registry import reader_of
from grader.rubric.choosing import only
from grader.selfcheck.begun import Begun
from grader.selfcheck.form import faults_of_form, missing_libraries
from grader.selfcheck.home_rubric import extent, status_here
from grader.selfcheck.own_runner import OwnRunner, is_installed
from grader.selfcheck.own_work import OwnWork


class Listener(Protocol):
    """Who is told how the self-check goes on."""

    def begins(self, work: OwnWork) -> None: ...

    def form(self, faults: list[str]) -> None: ...

    def problem(self, result: ProblemResult) -> None: ...

    def ends(self, report: Report) -> None: ...


def check_own_work(
    work: OwnWork,
    parts: tuple[str, ...],
    runner: OwnRunner,
    listener: Listener,
    known: Callable[[Problem], ProblemResult | None] = lambda problem: None,
) -> Report:
    """`known` holds results of an earlier check that still stand."""
    listener.begins(work)
    rubric = only(work.rubric, list(parts))
    faults = list(faults_of_form(work.submission, rubric, work.whole))
    listener.form(faults)
    # Only now: libraries take seconds to load, in processes of their own, and would hold up the first lines.
    if any(reader_of(check.function) for problem in rubric.problems for check in problem.checks):
        killable_child.start()
    runner.start()
    earlier = {problem.id: found for problem in rubric.problems if (found := known(problem))}
    for result in earlier.values():
        listener.problem(result)
    graded = tuple(problem for problem in checkable(rubric).problems if problem.id not in earlier)
    asked = replace(rubric, problems=graded)
    begun, results = Begun(work.submission, work.rubric), dict(earlier)

    def finished(result: ProblemResult) -> None:
        results[result.problem.id] = result = _or_not_begun(result, begun)
        listener.problem(result)

    report = grade(asked, work.submission, runner, draw_at_home(), finished=finished)
    report = replace(
        report,
        rubric=rubric,
        problems=tuple(_as_judged(results[problem.id]) for problem in rubric.problems if problem.id in results),
    )
    told = [fault.partition("\n")[0] for fault in faults]  # a note is one line
    report = replace(report, notes=(str(extent(report)), *where_it_ran(report), *told))
    listener.ends(report)
    return report


def _or_not_begun(result: ProblemResult, begun: Begun) -> ProblemResult:
    """Of what is judged later it can at least be said that nothing is there."""
    return result if result.checks or begun.has_begun(result.problem) else replace(result, status=Status.MISSING)


def _as_judged(result: ProblemResult) -> ProblemResult:
    """What was only looked at has not passed: its status is that a person decides."""
    return replace(result, status=status_here(result) or Status.REVIEW)


def checkable(rubric: Rubric) -> Rubric:
    """Without the problems whose libraries are not installed: they are told among the faults of form."""
    return replace(rubric, problems=tuple(problem for problem in rubric.problems if not missing_libraries(problem)))


def where_it_ran(report: Report) -> list[str]:
    missing = report.isolation.missing
    required = [layer for layer in missing if layer != "namespaces"]
    if not required:
        return []
    lacking = f"{', '.join(required)}, which this machine lacks"
    if missing == ("box",):
        lacking = f"a box, because {sys.platform} has none"
    return [f"your code ran without {lacking}; never run anyone else's code this way"]


def libraries_of(rubric: Rubric) -> tuple[str, ...]:
    named = dict.fromkeys(name for problem in checkable(rubric).problems for name in problem.libraries)
    return tuple(filter(is_installed, named))
