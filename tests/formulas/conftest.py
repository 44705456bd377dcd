"""Formulas judged in the tests' own process: the verdict is the same, and a child for each of 1,400 takes a minute."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks.formula_corpus import Grader
from grader.formulas import killable_child, outcomes


@contextmanager
def in_one_process() -> Iterator[None]:
    """The child that can be killed has its own tests (test_hostile.py). What takes too long is given up here too."""

    def give_up(*_: object) -> None:
        raise killable_child.TookTooLong

    def here(judge: Callable[..., Any], *args: Any) -> Any:
        signal.setitimer(signal.ITIMER_PROF, killable_child.CPU_SECONDS)
        try:
            return judge(*args)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    recursion, handler = sys.getrecursionlimit(), signal.signal(signal.SIGPROF, give_up)
    sys.setrecursionlimit(20_000)  # as in the child
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outcomes, "in_killable_child", here)
        patch.setattr(killable_child, "start", lambda: None)
        yield
    sys.setrecursionlimit(recursion)
    signal.signal(signal.SIGPROF, handler)


@pytest.fixture(scope="module")
def in_this_process() -> Iterator[None]:
    with in_one_process():
        yield


@pytest.fixture(scope="module")
def grader(in_this_process: None) -> Grader:
    return Grader()
