"""The one loop: every check of every problem, none able to stop the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from functools import partial

from grader.grading.check_runner import CheckRunner, Judgement
from grader.grading.concealment import as_shown
from grader.grading.evidence import Evidence
from grader.grading.grading_state import GradingState
from grader.grading.groups import gates_above, in_order
from grader.grading.randomness import Draw
from grader.model import (
    Alternative,
    Check,
    CheckResult,
    Outcome,
    Problem,
    ProblemResult,
    Report,
    Rubric,
    Runner,
    Status,
    Submission,
)
from grader.submission.alternatives import files_there, handed_in, undecided, worth_trying

_LETS_OTHERS_FOLLOW = (Status.PASSED, Status.REVIEW)  # where a check builds on one that found this, it is tried

Progress = Callable[[Problem, Check], None]
Finished = Callable[[ProblemResult], None]


def grade(
    rubric: Rubric,
    submission: Submission,
    runner: Runner,
    draw: Draw,
    *,
    notes: tuple[str, ...] = (),
    share_boxes: bool = True,
    progress: Progress = lambda problem, check: None,
    finished: Finished = lambda result: None,
) -> Report:
    """Grade a submission. Returns a report whatever the code does; raises if no sandbox can be made at all.

    Without `share_boxes` every check has a fresh sandbox: slower, with the same verdicts (see `benchmarks.verdicts`).
    """
    began = time.perf_counter()
    submission = submission.for_rubric(rubric)
    state = GradingState(rubric, submission, runner, draw, share_boxes, progress)
    evidence = Evidence(submission, lambda: state.sheet)
    problems: list[ProblemResult] = []
    for problem in rubric.problems:
        result = _grade_problem(state, problem)
        problems.append(replace(result, judged=evidence.of(problem, result.chosen)))
        finished(problems[-1])
    seconds = time.perf_counter() - began
    notes = (*dict.fromkeys((*notes, *submission.notes)), *state.notes, *draw.notes)
    about = (runner.isolation, seconds, notes, draw.fingerprint)
    return Report(submission.name, rubric, draw.seed, tuple(problems), *about)


def _grade_problem(state: GradingState, problem: Problem) -> ProblemResult:
    submission = state.submission
    if not problem.alternatives:
        return _run_checks(state, problem, None)
    if problem.best_counts and (worthy := worth_trying(problem, submission)):
        return best([_run_checks(state, problem, alternative) for alternative in worthy])
    found = handed_in(problem, submission)
    if len(found) == 1:
        return _run_checks(state, problem, found[0])
    shown = partial(as_shown, seed=state.draw.seed)
    return _run_checks(state, problem, None, undecided(problem, found, shown, files_there(problem, submission)))


def _run_checks(
    state: GradingState, problem: Problem, alternative: Alternative | None, *before: CheckResult
) -> ProblemResult:
    """The problem's own checks after those of the alternative; results found before them count too."""
    checks = (*(alternative.checks if alternative else ()), *problem.checks)
    results = {result.check.id: result for result in before}
    runner = CheckRunner(state, problem, state.share_boxes)
    with closing(runner.sandbox):
        for check in in_order(checks):
            state.progress(problem, check)
            blocking = blocked(check, gates_above(check, checks), results.values())
            outcome, seconds, timed_out = Judgement(blocking, 0.0) if blocking else runner.judge(check)
            state.took(seconds, timed_out, problem, check)
            shown, points = as_shown(outcome, check, state.draw.seed), check.points * outcome.score
            fault = outcome.detail if outcome.status is Status.UNGRADED else ""
            results[check.id] = CheckResult(check, shown, points, seconds, fault, timed_out)
    ordered = doubted([*before, *(results[check.id] for check in checks)])
    points = sum((result.points for result in ordered), Fraction(0))
    status = status_of(ordered, points, problem.points)
    return ProblemResult(problem, status, points, tuple(ordered), alternative.name if alternative else "")


def best(tried: Sequence[ProblemResult]) -> ProblemResult:
    """The result that earns most; among equals, one that was handed in, then the one that needs a person least. Where
    something could not be graded, only full marks count instead."""

    def worth(result: ProblemResult) -> tuple[Fraction, bool, int]:
        settled = sum(one.outcome.status is Status.PASSED for one in result.checks)
        return result.points, result.status is not Status.MISSING, settled

    found = max(tried, key=worth)
    ungraded = [result for result in tried if result.status is Status.UNGRADED]
    return ungraded[0] if ungraded and found.points < found.problem.points else found


def blocked(check: Check, gates: Sequence[str], results: Iterable[CheckResult]) -> Outcome | None:
    """Skipped if a check it needs did not pass; ungraded if that was our fault. A gate is needed by all below it."""
    statuses = {result.check.id: result.outcome.status for result in results}
    waiting = [needed for needed in (*gates, *check.needs) if statuses[needed] not in _LETS_OTHERS_FOLLOW]
    if ungraded := [needed for needed in waiting if statuses[needed] is Status.UNGRADED]:
        message = f"{ungraded[0]} could not be graded, and this check builds on it"
        return Outcome(Status.UNGRADED, Fraction(0), message, code="needs_ungraded")
    if waiting:
        message = f"not tried, because {waiting[0]} did not pass"
        return Outcome(Status.SKIPPED, Fraction(0), message, code="needs_not_passed")
    return None


def doubted(results: Sequence[CheckResult]) -> list[CheckResult]:
    """The results. What a check earned waits for a TA if none of the checks that its rubric names earned anything."""
    earned = {result.check.id for result in results if result.outcome.score}
    checked = []
    for result in results:
        grounds, outcome = result.check.review_unless, result.outcome
        reasons = [reason for reason, checks in grounds.items() if earned.isdisjoint(checks)]
        if reasons and outcome.score:
            message, code = f"{outcome.message}; needs review: {'; '.join(reasons)}", "earned_without_grounds"
            outcome = replace(outcome, status=Status.REVIEW, score=Fraction(0), message=message, code=code)
            result = replace(result, outcome=outcome, points=Fraction(0))
        checked.append(result)
    return checked


def status_of(results: list[CheckResult], points: Fraction, max_points: Fraction) -> Status:
    """The status of a problem, from those of its checks; `skipped` where all its checks run later."""
    if not results:
        return Status.SKIPPED
    found = {result.outcome.status for result in results}
    if unsettled := [status for status in (Status.UNGRADED, Status.REVIEW) if status in found]:
        return unsettled[0]
    if points == max_points and found == {Status.PASSED}:
        return Status.PASSED
    if points:
        return Status.PARTIAL
    return next((fault for fault in (Status.CRASHED, Status.FAILED, Status.MISSING) if fault in found), Status.FAILED)
