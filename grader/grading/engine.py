"""The one loop: every check of every problem, none able to stop the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction

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
    state = GradingState(rubric, submission, runner, draw)
    evidence = Evidence(submission, lambda: state.sheet)
    grading = _Grading(state, share_boxes, progress)
    problems: list[ProblemResult] = []
    for problem in rubric.problems:
        result = grading.problem(problem)
        problems.append(replace(result, judged=evidence.of(problem, result.chosen)))
        finished(problems[-1])
    seconds = time.perf_counter() - began
    return Report(
        submission.name,
        rubric,
        draw.seed,
        tuple(problems),
        runner.isolation,
        seconds,
        (*dict.fromkeys((*notes, *submission.notes)), *state.notes, *draw.notes),
        draw.fingerprint,
    )


@dataclass(frozen=True)
class _Grading:
    """One submission and how to grade it."""

    state: GradingState
    share_boxes: bool
    progress: Progress

    def problem(self, problem: Problem) -> ProblemResult:
        submission = self.state.submission
        if not problem.alternatives:
            return self._checks(problem, None)
        if problem.best_counts and (worthy := worth_trying(problem, submission)):
            return best([self._checks(problem, alternative) for alternative in worthy])
        found = handed_in(problem, submission)
        if len(found) == 1:
            return self._checks(problem, found[0])
        there = files_there(problem, submission)
        return self._checks(problem, None, undecided(problem, found, self._shown, there))

    def _checks(self, problem: Problem, alternative: Alternative | None, *before: CheckResult) -> ProblemResult:
        """The problem's own checks after those of the alternative; results found before them count too."""
        checks = (*(alternative.checks if alternative else ()), *problem.checks)
        results = {result.check.id: result for result in before}
        beside = alternative.beside if alternative else ()
        check_runner = CheckRunner(self.state, problem, beside, self.share_boxes)
        with closing(check_runner.sandbox):
            for check in in_order(checks):
                self.progress(problem, check)
                results[check.id] = self._result(problem, check, checks, results, check_runner)
            if not check_runner.may_share:
                self._confirm(problem, checks, results, check_runner)
        ordered = doubted([*before, *(results[check.id] for check in checks)])
        points = sum((result.points for result in ordered), Fraction(0))
        chosen = alternative.name if alternative else ""
        return ProblemResult(problem, status_of(ordered, points, problem.points), points, tuple(ordered), chosen)

    def _confirm(
        self, problem: Problem, checks: Sequence[Check], results: dict[str, CheckResult], check_runner: CheckRunner
    ) -> None:
        """Where not everything passes, what passed in a shared sandbox is judged again alone, with as much patience as
        if nothing had been slow yet; what builds on it follows."""
        slow_in, self.state.slow_in = self.state.slow_in, ""
        for check in in_order(checks):
            if check.id in check_runner.shared or blocked(check, gates_above(check, checks), results.values()):
                results[check.id] = self._result(problem, check, checks, results, check_runner)
        self.state.slow_in = slow_in or self.state.slow_in

    def _result(
        self,
        problem: Problem,
        check: Check,
        checks: Sequence[Check],
        results: Mapping[str, CheckResult],
        check_runner: CheckRunner,
    ) -> CheckResult:
        outcome = blocked(check, gates_above(check, checks), results.values())
        judgement = Judgement(outcome, 0.0) if outcome else check_runner.judge(check)
        self.state.took(judgement.seconds, judgement.timed_out, problem, check)
        outcome = judgement.outcome
        return CheckResult(
            check=check,
            outcome=self._shown(outcome, check),
            points=check.points * outcome.score,
            seconds=judgement.seconds,
            fault=outcome.detail if outcome.status is Status.UNGRADED else "",
            timed_out=judgement.timed_out,
        )

    def _shown(self, outcome: Outcome, check: Check) -> Outcome:
        return as_shown(outcome, check, self.state.draw.seed)


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
    if not gates and not check.needs:
        return None
    by_id = {result.check.id: result.outcome.status for result in results}
    waiting = [needed for needed in (*gates, *check.needs) if by_id[needed] not in _LETS_OTHERS_FOLLOW]
    for needed in waiting:
        if by_id[needed] is Status.UNGRADED:
            return Outcome(
                Status.UNGRADED,
                Fraction(0),
                f"{needed} could not be graded, and this check builds on it",
                code="needs_ungraded",
            )
    if waiting:
        return Outcome(
            Status.SKIPPED, Fraction(0), f"not tried, because {waiting[0]} did not pass", code="needs_not_passed"
        )
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
    outcome = replace(outcome, status=Status.REVIEW, score=Fraction(0), message=message, code="earned_without_grounds")
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
