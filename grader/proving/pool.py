"""Several processes, each with a bench of its own, and what they are asked."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path

from grader.model import CheckResult, ProblemResult, Report, Rubric, Status
from grader.proving.bench import Bench, Fate, Trial
from grader.proving.declarations import Declared
from grader.proving.samples import declaration_of, differences
from grader.rubric.loading import load_rubric

_bench: Bench | None = None  # this process's own, kept from one question to the next


@contextmanager
def benches(rubric: Rubric, data: Path | None, submissions: Path, unsafe: bool) -> Iterator[Executor]:
    """Processes are spawned, not forked: a runner's threads and sockets do not survive a fork."""
    start = (rubric.path, data, submissions, unsafe)
    cores = len(os.sched_getaffinity(0))
    pool = ProcessPoolExecutor(cores, multiprocessing.get_context("spawn"), _open_bench, start)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C nobody waits for the rest


def _open_bench(rubric: Path, data: Path | None, submissions: Path, unsafe: bool) -> None:
    global _bench
    _bench = Bench(load_rubric(rubric, data), submissions, unsafe=unsafe)
    Finalize(None, _bench.close, exitpriority=1)  # such a process ends without `atexit`


def fate(trial: Trial) -> Fate:
    assert _bench is not None
    return _bench.fate(trial)


@dataclass(frozen=True)
class Judged:
    """How a right sample's problem was judged: by which checks, and how long the slowest took."""

    checks: tuple[str, ...]
    seconds: float


def lost_by_gold(folder: Path) -> tuple[list[str], dict[str, Judged]]:
    """Where a right sample does not get everything, and how each of its problems was judged."""
    report = _graded(folder)
    lost = [
        _line(problem, result)
        for problem in report.problems
        if problem.points < problem.max_points
        for result in problem.checks
        if result.outcome.score < 1
    ]
    judged = {
        one.problem.id: Judged(
            tuple(result.check.id for result in one.checks), max(result.seconds for result in one.checks)
        )
        for one in report.problems
    }
    return lost, judged


def won_by_stub(folder: Path) -> list[str]:
    return [
        _line(problem, result)
        for problem in _graded(folder).problems
        for result in problem.checks
        if result.points or result.outcome.status is Status.UNGRADED
    ]


def undeclared(folder: Path, declared: Declared) -> list[str]:
    report = _graded(folder)
    return [*differences(declared, report), *_ungraded(report)]


@dataclass(frozen=True)
class Gets:
    """What a sample gets: as it would be declared, where that differs, and what could not be graded."""

    data: Declared
    changes: list[str]
    ungraded: list[str]


def gets(folder: Path, declared: Declared | None) -> Gets:
    report = _graded(folder)
    return Gets(declaration_of(report), differences(declared, report) if declared else [], _ungraded(report))


def _ungraded(report: Report) -> list[str]:
    return [
        _line(problem, result)
        for problem in report.problems
        for result in problem.checks
        if result.outcome.status is Status.UNGRADED and result.fault
    ]


def _line(problem: ProblemResult, result: CheckResult) -> str:
    found = result.outcome
    return f"{problem.problem.id} {result.check.id} {found.status}: {result.fault or found.message}"


def _graded(folder: Path) -> Report:
    assert _bench is not None
    return _bench.graded(folder)
