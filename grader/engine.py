"""The one loop: every check of every problem, none able to stop the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from fractions import Fraction

from grader.alternatives import files_there, handed_in, undecided, worth_trying
from grader.draw import Draw
from grader.errors import BoxLost, Killed
from grader.judged import Judging
from grader.model import (
    Alternative,
    Box,
    Check,
    CheckResult,
    Limits,
    Outcome,
    Problem,
    ProblemResult,
    Report,
    Rubric,
    Runner,
    Status,
    Submission,
)
from grader.opinions import Asking
from grader.sharing import BoxInTurn
from grader.shown import as_shown
from grader.turns import turns_of
from grader.work import Work

_ATTEMPTS = 2  # a limit of time, a kill, or a fork server that went away, gets a second try before it counts
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
    """Grade a submission. Always returns a report; raises only if no box can be made at all.

    Without `share_boxes` every check has a fresh box: slower, with the same verdicts (`benchmarks.sharing` compares).
    """
    began = time.perf_counter()
    submission = submission.for_rubric(rubric)

    def open_box(limits: Limits) -> AbstractContextManager[Box]:
        return runner.open(submission, limits, draw.student(rubric.name))

    with closing(BoxInTurn(open_box)) as turn, closing(BoxInTurn(open_box)) as aside:
        work = Work(submission, rubric, share_boxes, turn, aside)
        judging = Judging(submission, lambda: work.sheet)
        problems: list[ProblemResult] = []
        for problem in rubric.problems:
            result = _grade_problem(rubric, problem, work, draw, progress)
            problems.append(replace(result, judged=judging.of(problem, result.chosen)))
            finished(problems[-1])
    seconds = time.perf_counter() - began
    return Report(
        submission.name,
        rubric,
        draw.seed,
        tuple(problems),
        runner.isolation,
        seconds,
        (*dict.fromkeys((*notes, *submission.notes)), *work.notes, *draw.notes),
        draw.fingerprint,
    )


def _grade_problem(rubric: Rubric, problem: Problem, work: Work, draw: Draw, progress: Progress) -> ProblemResult:
    def graded(alternative: Alternative | None, *before: CheckResult) -> ProblemResult:
        return _grade_checks(rubric, problem, alternative, before, work, draw, progress)

    if not problem.alternatives:
        return graded(None)
    if problem.best_counts and (worthy := worth_trying(problem, work.submission)):
        return best([graded(alternative) for alternative in worthy])
    found = _alternatives(problem, work)
    if len(found) == 1:
        return graded(found[0])
    there = files_there(problem, work.submission)
    return graded(None, undecided(problem, found, lambda outcome, check: as_shown(outcome, check, draw.seed), there))


def best(tried: Sequence[ProblemResult]) -> ProblemResult:
    """The result that earns most; among equals, one that was handed in, then the one that needs a person least. Where
    something could not be graded, only full marks count instead."""

    def worth(result: ProblemResult) -> tuple[Fraction, bool, int]:
        settled = sum(one.outcome.status is Status.PASSED for one in result.checks)
        return result.points, result.status is not Status.MISSING, settled

    found = max(tried, key=worth)
    ungraded = [result for result in tried if result.status is Status.UNGRADED]
    return ungraded[0] if ungraded and found.points < found.problem.points else found


def _grade_checks(
    rubric: Rubric,
    problem: Problem,
    alternative: Alternative | None,
    before: tuple[CheckResult, ...],
    work: Work,
    draw: Draw,
    progress: Progress,
) -> ProblemResult:
    """The problem's own checks after those of the alternative; results found before them count too."""
    checks = (*(alternative.checks if alternative else ()), *problem.checks)
    results = {result.check.id: result for result in before}
    turns, patience = turns_of(checks), work.patience()
    has_lost = any(result.outcome.status not in _LETS_OTHERS_FOLLOW for result in before)

    asking = Asking(rubric, problem, work, draw, turns, alternative.beside if alternative else ())
    with asking.begun():
        for check in turns.order:
            progress(problem, check)
            began, timed_out = time.perf_counter(), False
            outcome = blocked(check, turns.gates[check.id], results.values()) if has_lost else None
            if outcome is None:
                # Code that has run out of time twice does so by itself: other checks need no second try.
                attempts = 1 if work.slow_in else _ATTEMPTS
                outcome, timed_out = asking.judge(check, attempts)
                work.took(time.perf_counter() - began, timed_out, problem, check)
            has_lost = has_lost or outcome.status not in _LETS_OTHERS_FOLLOW
            results[check.id] = CheckResult(
                check=check,
                outcome=as_shown(outcome, check, draw.seed),
                points=check.points if outcome.status is Status.PASSED else check.points * outcome.score,
                seconds=time.perf_counter() - began,
                fault=outcome.detail if outcome.status is Status.UNGRADED else "",
                timed_out=timed_out,
            )
        stands = asking.stands()
    if not stands:
        work.share_nothing(patience)
        return _grade_checks(rubric, problem, alternative, before, work, draw, progress)
    in_order = doubted([*before, *(results[check.id] for check in checks)])
    # All that each is worth, as most work gets, need not be added up.
    is_full = not before and all(result.points is result.check.points for result in in_order)
    points = turns.points if is_full else sum((result.points for result in in_order), Fraction(0))
    chosen = alternative.name if alternative else ""
    return ProblemResult(problem, status_of(in_order, points, problem.points), points, tuple(in_order), chosen)


def _alternatives(problem: Problem, work: Work) -> list[Alternative]:
    """Those that were handed in, told by reading: in the box that the checks of one of them will ask."""
    for _ in range(_ATTEMPTS):
        if not work.turn.serves(problem.limits, files_there(problem, work.submission)):
            work.turn.close()
        try:
            with work.turn.for_reading(problem.limits) as box:
                return handed_in(problem, work.submission, box)
        except (Killed, BoxLost):
            continue
    raise BoxLost(f"{problem.id}: the box that looks at what was handed in ended {_ATTEMPTS} times")


def blocked(check: Check, gates: Sequence[str], results: Iterable[CheckResult]) -> Outcome | None:
    """Skipped if a check it needs did not pass; ungraded if that was our fault. A gate is needed by all below it."""
    if not gates and not check.needs:
        return None
    by_id = {result.check.id: result.outcome.status for result in results}
    waiting = [needed for needed in (*gates, *check.needs) if by_id[needed] not in _LETS_OTHERS_FOLLOW]
    for needed in waiting:
        if by_id[needed] is Status.UNGRADED:
            return Outcome(Status.UNGRADED, Fraction(0), f"{needed} could not be graded, and this check builds on it")
    if waiting:
        return Outcome(Status.SKIPPED, Fraction(0), f"not tried, because {waiting[0]} did not pass")
    return None


def doubted(results: Sequence[CheckResult]) -> list[CheckResult]:
    """The results. What a check earned waits for a TA if none of the checks that its rubric names earned anything."""
    earned = {result.check.id for result in results if result.outcome.score}
    return [_doubted(result, earned) for result in results]


def _doubted(result: CheckResult, earned: set[str]) -> CheckResult:
    outcome = result.outcome
    reasons = [reason for reason, checks in result.check.review_unless.items() if not earned.intersection(checks)]
    if not reasons or not outcome.score:
        return result
    message = f"{outcome.message}; needs review: {'; '.join(reasons)}"
    outcome = replace(outcome, status=Status.REVIEW, score=Fraction(0), message=message)
    return replace(result, outcome=outcome, points=Fraction(0))


def status_of(results: list[CheckResult], points: Fraction, max_points: Fraction) -> Status:
    """The status of a problem, from those of its checks; `skipped` where all its checks run later."""
    if not results:
        return Status.SKIPPED
    found = {result.outcome.status for result in results}
    for unsettled in (Status.UNGRADED, Status.REVIEW):
        if unsettled in found:
            return unsettled
    if points == max_points and found == {Status.PASSED}:
        return Status.PASSED
    if points:
        return Status.PARTIAL
    for fault in (Status.CRASHED, Status.FAILED, Status.MISSING):
        if fault in found:
            return fault
    return Status.FAILED
