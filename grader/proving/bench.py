"""Where whole samples and single mutants are graded: one process, one runner of boxes."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Check, Limits, Problem, Report, Rubric, Status
from grader.rubric.per_student import for_student
from grader.sandbox import BoxRunner
from grader.submission.opening import OpenedSubmission, open_submission

_SLOWER = 5  # a mutant that takes this many times as long as the gold counts as hanging
_DRAW = Draw(seed=0, secret=None)  # a proof is the same for everybody
_LEAST_SECONDS = 3  # so that a busy machine does not look like an endless loop


@dataclass(frozen=True)
class Trial:
    """A sample with one file changed, for one problem."""

    sample: str
    problem: str
    checks: tuple[str, ...]  # in the order of the rubric: those the sample was judged by, and that have to notice
    cpu_seconds: int
    file: str
    text: str


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: which check noticed it, if any did, or whether the prover says it is right too."""

    noticed_by: str = ""
    proved: bool = False
    fault: str = ""  # it broke the grader itself


class Bench:
    def __init__(self, rubric: Rubric, submissions: Path, *, unsafe: bool = False) -> None:
        self._rubric = rubric
        self._submissions = submissions
        self._stack = ExitStack()
        self._runner = self._stack.enter_context(BoxRunner(rubric.libraries, unsafe=unsafe))
        self._opened: dict[str, OpenedSubmission] = {}
        self._kills: Counter[str] = Counter()

    def close(self) -> None:
        self._stack.close()

    def graded(self, folder: Path) -> Report:
        with open_submission(folder) as submission:
            return grade(for_student(self._rubric, submission.name, _DRAW), submission, self._runner, _DRAW)

    def fate(self, trial: Trial) -> Fate:
        """Checks are tried one at a time until one takes points off; those that noticed most before come first."""
        (problem,) = (one for one in self._rubric.problems if one.id == trial.problem)
        checks = _judged_by(problem, trial.checks)
        proved = False
        with tempfile.TemporaryDirectory(prefix="grader-mutant-") as folder:
            submission = self._changed(trial, Path(folder) / "work")
            for check in sorted(checks, key=lambda check: -self._kills[f"{trial.problem} {check.id}"]):
                asked = for_student(self._alone(problem, check, trial.cpu_seconds), submission.name, _DRAW)
                report = grade(asked, submission, self._runner, _DRAW)
                (result,) = (result for one in report.problems for result in one.checks)
                if result.outcome.status is Status.UNGRADED:
                    return Fate(fault=result.fault)
                if result.outcome.score < 1:
                    self._kills[f"{trial.problem} {check.id}"] += 1
                    return Fate(noticed_by=check.id)
                proved = proved or result.outcome.evidence.get("proved") is True
        return Fate(proved=proved)

    def _alone(self, problem: Problem, check: Check, cpu_seconds: int) -> Rubric:
        """A rubric of this one check. The other problems stay, empty, because the answer sheet is cut by their ids."""
        limits = replace(problem.limits, cpu_seconds=min(cpu_seconds, problem.limits.cpu_seconds))
        one = replace(problem, checks=(replace(check, needs=(), review_unless={}),), alternatives=(), limits=limits)
        emptied = (replace(other, checks=(), alternatives=()) for other in self._rubric.problems)
        return replace(self._rubric, problems=tuple(one if other.id == problem.id else other for other in emptied))

    def _changed(self, trial: Trial, folder: Path) -> OpenedSubmission:
        """A folder of its own for each: the runner keeps a submission within reach of its boxes by its folder."""
        if trial.sample not in self._opened:
            opened = self._stack.enter_context(open_submission(self._submissions / trial.sample))
            self._opened[trial.sample] = opened
        right = self._opened[trial.sample]
        shutil.copytree(right.folder, folder, copy_function=os.link)
        changed = folder / trial.file
        changed.unlink()  # it is linked to the sample's own copy
        changed.write_text(trial.text, encoding="utf-8")
        return replace(right, folder=folder)


def _judged_by(problem: Problem, ids: tuple[str, ...]) -> list[Check]:
    """The checks of these ids; where alternatives share an id, those of the one that holds most of them."""
    most = max(
        (one.checks for one in problem.alternatives), key=lambda those: sum(c.id in ids for c in those), default=()
    )
    return [check for check in (*most, *problem.checks) if check.id in ids]


def trial_seconds(slowest: float, limits: Limits) -> int:
    """Processor seconds for a mutant, from what the gold's slowest check took."""
    return min(limits.cpu_seconds, max(_LEAST_SECONDS, math.ceil(_SLOWER * slowest)))
