"""Opens one submission of a class and grades it, unless the gradebook has a result for the same work."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.batch import fingerprints
from grader.batch.finding import HandedIn
from grader.batch.gradebook import Result
from grader.batch.rescoring import NeedsGrading, rescored
from grader.batch.stored_report import result_of
from grader.errors import BoxRefused, UsageError, cause_for_staff
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import (
    CAN_BE_OPENED,
    COULD_BE_GRADED,
    CheckResult,
    Isolation,
    Limits,
    Outcome,
    ProblemResult,
    Report,
    Rubric,
    Status,
)
from grader.quoting import quote
from grader.rubric.choosing import only
from grader.rubric.loading import load_rubric
from grader.rubric.per_student import for_student
from grader.sandbox import BoxRunner
from grader.submission.alternatives import stand_in
from grader.submission.opening import OpenedSubmission, open_submission
from grader.submission.wrong_assignment import with_other_assignment


@dataclass(frozen=True)
class Plan:
    """What a whole batch has in common; small enough to hand to every job."""

    rubric: Path
    data: Path | None
    problems: tuple[str, ...]
    draw: Draw
    unsafe: bool


@dataclass(frozen=True)
class Graded:
    """What became of one submission. `result` is None where the gradebook already has it."""

    handed_in: HandedIn
    result: Result | None
    faults: tuple[str, ...] = ()  # ours, for staff
    students: tuple[str, ...] | None = None  # who handed it in together, says the submission, if it could be opened


Opened = Callable[[HandedIn], contextlib.AbstractContextManager[OpenedSubmission]]


@dataclass(frozen=True)
class Prepared:
    """What a plan asks, once its rubric is read: the same for all who grade by it."""

    rubric: Rubric  # of it the problems that are asked for
    order: list[str]  # of all its problems
    conditions: str  # as a hash


def prepared(plan: Plan) -> Prepared:
    whole = load_rubric(plan.rubric, plan.data)
    rubric = only(whole, list(plan.problems))
    conditions = fingerprints.of_conditions(rubric, plan.draw.seed, plan.draw.fingerprint)
    return Prepared(rubric, [problem.id for problem in whole.problems], conditions)


class Grading:
    """Grades submissions one after another, in boxes from one warm fork server."""

    def __init__(self, plan: Plan, ready: Prepared | None = None) -> None:
        """`ready` is what the plan asks, if that is known."""
        ready = ready or prepared(plan)
        self._rubric, self._order, self._conditions = ready.rubric, ready.order, ready.conditions
        self._plan = plan
        self._stack = contextlib.ExitStack()
        self._runner = self._stack.enter_context(BoxRunner(self._rubric.libraries, unsafe=plan.unsafe))

    @cached_property
    def isolation(self) -> Isolation:
        """Which layers boxes have, tried with one of our own: a report must not depend on who was graded before."""
        with tempfile.TemporaryDirectory(prefix="grader-") as folder:
            (Path(folder) / "tried.py").write_text("def tried():\n    return 1\n")
            with self._runner.open(OpenedSubmission("", Path(folder), 0, ("tried.py",)), Limits(), 0) as box:
                box.call("tried.py", "tried")
        return self._runner.isolation

    def grade_one(self, handed_in: HandedIn, stored: Result | None, opened: Opened | None = None) -> Graded:
        """The result of one submission, opened in the way given. Raises only if no box can be made at all."""
        if handed_in.fault:
            return self.given_up(handed_in, handed_in.fault)
        try:
            with (opened or self._opened)(handed_in) as submission:
                content = fingerprints.of_submission(submission)
                return replace(
                    self._graded_or_known(handed_in, stored, submission, content), students=submission.students
                )
        except UsageError as fault:  # what was handed in cannot be opened: a person decides
            return self._not_opened(handed_in, stored, str(fault))
        except BoxRefused:
            raise
        except Exception as fault:  # ours, whatever it is: it costs the student nothing and stops nobody else
            what = f"the grader stumbled over it ({type(fault).__name__})"
            return self.given_up(handed_in, what, cause_for_staff(fault))

    def _graded_or_known(
        self, handed_in: HandedIn, stored: Result | None, submission: OpenedSubmission, content: str
    ) -> Graded:
        if stored is not None and self._still_holds(stored, content):
            if stored.rubric_sha256 == self._rubric.sha256:
                return Graded(handed_in, None)
            with contextlib.suppress(NeedsGrading):
                return self._result(handed_in, rescored(stored, self._rubric), content, "rescored")
        result = self._result(handed_in, self._graded(submission), content, "graded")
        if self._plan.problems and stored is not None and stored.submission_sha256 == content:
            result = replace(result, result=_beside(stored, result.result, self._order))
        return result

    def given_up(self, handed_in: HandedIn, what: str, cause: str = "") -> Graded:
        """Ungraded throughout: never silently zero, and tried again by the next batch. Staff read the `cause`, too."""
        message = f"{what}; the fault is the grader's, not the submission's"
        report = self._one_verdict(
            handed_in, COULD_BE_GRADED, Outcome(Status.UNGRADED, Fraction(0), message, code="grader_fault")
        )
        return replace(self._result(handed_in, report, "", "given up"), faults=(cause or what,))

    def _not_opened(self, handed_in: HandedIn, stored: Result | None, why: str) -> Graded:
        content = fingerprints.of_file(handed_in.path) if handed_in.path.is_file() else ""
        if stored is not None and self._still_holds(stored, content) and self._rubric.sha256 == stored.rubric_sha256:
            return Graded(handed_in, None)
        why = why.replace(quote(str(handed_in.path)), quote(handed_in.path.name))
        archive = {"kind": "file", "file": handed_in.path.name, "sha256": content}
        judged = {
            "sha256": content or fingerprints.of_text(why),
            "kind": "files",
            "pieces": [archive] if content else [],
        }
        report = self._one_verdict(
            handed_in, CAN_BE_OPENED, Outcome(Status.REVIEW, Fraction(0), why, code="not_opened"), judged
        )
        return self._result(handed_in, report, content, "not opened")

    def _one_verdict(
        self, handed_in: HandedIn, name: str, outcome: Outcome, judged: Mapping[str, Any] | None = None
    ) -> Report:
        """A report with one verdict for every problem."""
        problems = []
        for problem in self._rubric.problems:
            check = stand_in(name, problem.points)
            result = CheckResult(check, outcome, Fraction(0), 0.0)
            problems.append(ProblemResult(problem, outcome.status, Fraction(0), (result,), judged=judged or {}))
        draw = self._plan.draw
        return Report(
            submission=handed_in.student,
            rubric=self._rubric,
            seed=draw.seed,
            problems=tuple(problems),
            isolation=self.isolation,
            seconds=0.0,
            notes=draw.notes,
            secret=draw.fingerprint,
        )

    def _still_holds(self, stored: Result, content: str) -> bool:
        same = (stored.submission_sha256, stored.conditions_sha256) == (content, self._conditions)
        return same and stored.settled and bool(content)

    def _graded(self, submission: OpenedSubmission) -> Report:
        draw = self._plan.draw
        rubric = for_student(self._rubric, submission.name, draw)
        try:
            report = grade(rubric, submission, self._runner, draw, notes=submission.notes)
        except BoxRefused:
            raise
        except Exception:  # the fork server went away outside any check that could be tried again
            report = grade(rubric, submission, self._runner, draw, notes=submission.notes)
        return with_other_assignment(replace(report, isolation=self.isolation), submission)

    def _result(self, handed_in: HandedIn, report: Report, content: str, how: str) -> Graded:
        if handed_in.late:
            report = replace(report, notes=("late according to the download", *report.notes))
        result = result_of(
            report, name=handed_in.name, how=how, submission_sha256=content, conditions_sha256=self._conditions
        )
        faults = [
            f"{one.problem.id} {check.check.id} is ungraded: {check.fault}"
            for one in report.problems
            for check in one.checks
            if check.fault
        ]
        return Graded(handed_in, result, tuple(faults))

    @contextlib.contextmanager
    def _opened(self, handed_in: HandedIn) -> Iterator[OpenedSubmission]:
        with open_submission(handed_in.path) as opened:
            yield replace(opened, name=handed_in.student)

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> Grading:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _beside(earlier: Result, now: Result | None, order: list[str]) -> Result | None:
    """When only some problems were asked for, the others stay as they were graded before, for the same work."""
    assert now is not None
    problems = {one["id"]: one for one in (*earlier.report["problems"], *now.report["problems"])}
    definition, asked = json.loads(earlier.definition), json.loads(now.definition)
    definition["problems"] |= asked["problems"]
    exact = {kind: {**earlier.exact[kind], **now.exact[kind]} for kind in now.exact}
    kept = [problems[part] for part in order if part in problems]
    notes = list(now.report["notes"])
    if earlier.report.get("secret", "") != now.report["secret"]:
        others = [one["id"] for one in kept if one not in now.report["problems"]]
        notes.append(f"{', '.join(others)}: graded earlier, with another secret than the rest")
    return replace(
        now,
        definition=json.dumps(definition),
        exact=exact,
        settled=now.settled and earlier.settled,
        report={**now.report, "problems": kept, "notes": notes},
    )
