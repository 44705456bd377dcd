"""Hands in an author's code as a student would, for every problem that asks for code: what earns points is an answer.

Nothing is judged by its looks here. Each function is graded by the rubric itself, in a box, as the file and the
function that a problem asks for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from grader.grading.engine import grade
from grader.grading.randomness import draw_at_home
from grader.model import Check, Problem, Rubric, Runner, Status, is_code
from grader.release.candidates import TRIED, Candidate, candidates_in
from grader.release.sources import Module
from grader.rubric.per_student import for_student
from grader.selfcheck.own_runner import own_runner
from grader.submission.opening import OpenedSubmission

_HOLDS = "code_of_the_author"  # the module that a student would have copied
_EARNING = (Status.PASSED, Status.PARTIAL)
# What passes without any work says nothing: an argument given back leaves its arguments unchanged, and keeps its shape.
_NO_WORK = (
    f"{TRIED} = lambda *args, **kwargs: args[0]\n",
    f"import numpy\n{TRIED} = lambda *args, **kwargs: numpy.zeros_like(args[0])\n",
)
_NO_WORK_OF_A_MODULE = f"""
import torch

class {TRIED}(torch.nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, x, *args, **kwargs):
        return x
"""


@dataclass(frozen=True)
class _Task:
    """What a problem asks of one function or class."""

    problem: Problem
    asked: Mapping[str, frozenset[str]]  # names by file; none, where only the check knows what it calls


@dataclass(frozen=True)
class Answering:
    """Code that earns points."""

    name: str
    problem: str
    checks: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} answers {self.problem}: it passes {', '.join(self.checks)}"


def answers_among(code: Module, rubric: Rubric, students_grader: Mapping[str, bytes]) -> list[Answering]:
    """Whatever in this code earns points by the rubric, with the first problem it does so for."""
    candidates, tasks = list(candidates_in(code)), list(_tasks(rubric))
    if not candidates or not tasks:
        return []
    libraries = tuple(dict.fromkeys(name for task in tasks for name in task.problem.libraries))
    found: dict[str, Answering] = {}
    with own_runner(libraries) as runner:
        trial = _Trial(rubric, runner, students_grader)
        for candidate in candidates:
            if candidate.name not in found and (answering := trial.first_earned(candidate, tasks)):
                found[candidate.name] = answering
    return list(found.values())


def _tasks(rubric: Rubric) -> Iterator[_Task]:
    for problem in rubric.problems:
        ways = [(*one.checks, *problem.checks) for one in problem.alternatives] or [problem.checks]
        for checks in ways:
            earning = (check for check in checks if check.points and _code_files(check))
            for names in dict.fromkeys(frozenset(check.names) for check in earning):
                yield _task(problem, [check for check in checks if names.issuperset(check.names)])


def _task(problem: Problem, checks: list[Check]) -> _Task:
    """The problem with these checks only; what they need of others they cannot have here."""
    ids = [check.id for check in checks]
    needs = (tuple(one for one in check.needs if one in ids) for check in checks)
    alone = tuple(replace(check, needs=own, review_unless={}) for check, own in zip(checks, needs, strict=True))
    asked: dict[str, frozenset[str]] = {}
    for check in checks:
        for file in _code_files(check):
            asked[file] = asked.get(file, frozenset()) | frozenset(filter(str.isidentifier, check.names))
    return _Task(replace(problem, checks=alone, alternatives=()), asked)


def _code_files(check: Check) -> list[str]:
    return [file for file in check.files if is_code(file)]


class _Trial:
    def __init__(self, rubric: Rubric, runner: Runner, students_grader: Mapping[str, bytes]) -> None:
        self._rubric = rubric
        self._runner = runner
        self._students_grader = students_grader
        self._without_work: dict[tuple[str, ...], Mapping[str, Fraction]] = {}

    def first_earned(self, candidate: Candidate, tasks: Iterable[_Task]) -> Answering | None:
        beside = self._students_grader if candidate.needs_the_grader else {}
        for task in tasks:
            earned = self._earned(candidate.source, task, beside)
            idle = self._earned_without_work(task) if earned else {}
            if telling := tuple(check for check, points in earned.items() if points > idle.get(check, 0)):
                return Answering(candidate.name, task.problem.id, telling)
        return None

    def _earned(self, source: str, task: _Task, beside: Mapping[str, bytes]) -> dict[str, Fraction]:
        """Points by check."""
        files = {**beside, f"{_HOLDS}.py": source.encode()}
        files |= {file: _handed_in(names).encode() for file, names in task.asked.items()}
        with tempfile.TemporaryDirectory(prefix="grader-trial-") as folder:
            for name, content in files.items():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / name).write_bytes(content)
            size = sum(len(content) for content in files.values())
            # The places are given, because the students' grader has files that go by the same names.
            work = OpenedSubmission(
                "tried", Path(folder), size, tuple(files), places={file: file for file in task.asked}
            )
            draw = draw_at_home()
            asked = for_student(replace(self._rubric, problems=(task.problem,)), work.name, draw)
            report = grade(asked, work, self._runner, draw)
        results = report.problems[0].checks
        return {one.check.id: one.points for one in results if one.points and one.outcome.status in _EARNING}

    def _earned_without_work(self, task: _Task) -> Mapping[str, Fraction]:
        key = (task.problem.id, *(check.id for check in task.problem.checks))
        if key not in self._without_work:
            sources = [*_NO_WORK, *([_NO_WORK_OF_A_MODULE] if "torch" in task.problem.libraries else [])]
            most: dict[str, Fraction] = {}
            for source in sources:
                for check, points in self._earned(source, task, {}).items():
                    most[check] = max(points, most.get(check, Fraction(0)))
            self._without_work[key] = most
        return self._without_work[key]


def _handed_in(names: Iterable[str]) -> str:
    """A file whose every asked-for name is the candidate."""
    given = sorted(names)
    if not given:  # whatever the check asks for is this
        return f"from {_HOLDS} import {TRIED}\n\ndef __getattr__(name):\n    return {TRIED}\n"
    return f"from {_HOLDS} import {TRIED}\n\n" + "".join(f"{name} = {TRIED}\n" for name in given)
