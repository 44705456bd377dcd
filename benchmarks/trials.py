"""One fault at a time in a copy of the repository, and the tests that might notice it.

Which those are is known from the lines that each of them runs (reach.py): those of the file's area (tests/areas.yaml),
a hundred quick ones of others, and of the area also those that hand work to other processes, which nobody sees.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.areas import REPOSITORY, tests_of
from benchmarks.changed_functions import differs_while_loading
from benchmarks.reach import Reach, Test, statement_lines
from benchmarks.warm_pytest import HANGS, Swap, WarmPytest
from grader.proving.mutants import Mutant

HANGING = "it hangs"
_CHANCES = 3  # a test that fails now and then, because the machine is busy, is asked so often
_AT_FIRST = 40  # tests that are asked before all others, drawn from those that might notice
_KILLERS = 8
_ELSEWHERE = 100  # quick tests of other areas that run the line, too: some files are run by nearly all tests
# In seconds of the processor's time: whatever a test takes by itself, a busy machine makes it take longer.
_PATIENCE, _TIMES, _UNKNOWN = 20.0, 10.0, 120.0
_IN_BOXES = "grader/sandbox/box/"
_OPENS_BOXES = "grader/sandbox/host/channel.py"
_HANDS_ON = "grader/formulas/killable_child.py"  # whose child lives on from test to test


@dataclass(frozen=True)
class Tried:
    mutant: Mutant
    noticed: bool
    by: str  # the test, or that it hung
    seconds: float
    slow: bool = True  # whether slow tests were asked, or need not be


@dataclass(frozen=True)
class Asked:
    """The tests that might notice a fault, in the order in which they are asked."""

    quick: list[str]
    slow: list[str]
    loading: tuple[bool, ...]  # ways to run them: with the grader loaded anew, or changed in place

    @staticmethod
    def about(mutant: Mutant, tests: dict[str, bool], reach: Reach) -> Asked:
        area = {test for test in tests if lies_in(test, tests_of(mutant.file))}
        right = (REPOSITORY / mutant.file).read_text(encoding="utf-8")
        lines = statement_lines(right, mutant.line)
        loading = differs_while_loading(right, mutant.text)
        # What is loaded belongs to whichever test came first; who uses it then, nobody sees.
        reached = set() if loading else reach.of(mutant.file, lines) & tests.keys()
        if mutant.file.startswith(_IN_BOXES) or not reached:
            asked = area
        else:
            unseen = {test for test in area if _may_reach_unseen(reach.tests.get(test), reach)}
            elsewhere = sorted((test for test in reached - area if not tests[test]), key=_drawn)
            asked = unseen | (reached & area) | set(elsewhere[:_ELSEWHERE])
        ways = (True,) if loading else (False, True) if reach.while_loading(mutant.file, lines) else (False,)
        places = tests_of(mutant.file)
        order = sorted(
            asked, key=lambda test: (_cost(test, reach), *(not lies_in(test, [one]) for one in places), test)
        )
        return Asked([test for test in order if not tests[test]], [test for test in order if tests[test]], ways)


def lies_in(test: str, places: Iterable[str]) -> bool:
    return any(test.startswith((f"{place}/", f"{place}::")) for place in places)


def _may_reach_unseen(test: Test | None, reach: Reach) -> bool:
    return test is None or test.starts_others or test.id in _handing_on(reach)


@cache
def _handing_on(reach: Reach) -> set[str]:
    return reach.of(_HANDS_ON)


def _seconds(test: str, reach: Reach) -> float:
    return reach.tests[test].seconds if test in reach.tests else 0.0


def _cost(test: str, reach: Reach) -> float:
    """Other processes take time that was not counted: whoever needs one comes later."""
    return _seconds(test, reach) + (test in _in_boxes(reach) or _may_reach_unseen(reach.tests.get(test), reach))


@cache
def _in_boxes(reach: Reach) -> set[str]:
    return reach.of(_OPENS_BOXES)


class Workshop:
    """A copy of the repository in which one file at a time is wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for file in git("ls-files", "--cached", "--others", "--exclude-standard").splitlines():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            if (REPOSITORY / file).is_file():
                shutil.copy2(REPOSITORY / file, folder / file)
        self._pytest = WarmPytest(folder)
        self._passes: set[str] = set()  # what has passed without a fault
        self._unfit: set[str] = set()  # what has failed without one
        self._changes = 0

    def close(self) -> None:
        self._pytest.close()

    def tests(self) -> dict[str, bool]:
        return self._pytest.tests()

    def try_out(self, mutant: Mutant, asked: Asked, killers: list[str], reach: Reach, *, slow: bool) -> Tried | None:
        """What fails has to fail again alone, and to pass without the fault: that the machine is busy is no fault.

        A test that fails without the fault is not asked again. Nothing is said of a fault that finds several of them.
        """
        began = time.perf_counter()
        for _ in range(_CHANCES):
            tests = [test for test in (asked.slow if slow else asked.quick) if test not in self._unfit]
            runs = [tests] if slow else _first_few(tests, killers)
            with self._wrong(mutant) as swap:
                by, loading = self._noticed(runs, swap, asked.loading, reach)
            if "::" not in by or not self._fails_anyway(by, loading):
                return Tried(mutant, bool(by), by, time.perf_counter() - began, slow or bool(by))
            self._unfit.add(by)
        return None

    def _noticed(self, runs: list[list[str]], swap: Swap, ways: Iterable[bool], reach: Reach) -> tuple[str, bool]:
        """What fails, and fails again without the others."""
        for loading in ways:
            for tests in runs:
                for _ in range(_CHANCES):
                    by = self._failed(tests, swap, reach, loading)
                    if not by:
                        break
                    if by == HANGING or "::" not in by or self._failed([by], swap, reach, loading):
                        return by, loading
        return "", False

    @contextmanager
    def _wrong(self, mutant: Mutant) -> Iterator[Swap]:
        """With a time of its own, by which Python tells whether a compiled file is still right."""
        place = self.folder / mutant.file
        right, time_of = place.read_text(encoding="utf-8"), place.stat().st_mtime
        self._changes += 1
        place.write_text(mutant.text, encoding="utf-8")
        os.utime(place, (time_of, time_of + 10 * self._changes))
        try:
            yield Swap(mutant.file, right, mutant.text)
        finally:
            place.write_text(right, encoding="utf-8")
            os.utime(place, (time_of, time_of))

    def _fails_anyway(self, test: str, loading: bool) -> bool:
        if test not in self._passes:
            ended = self._pytest.run([test], None, _UNKNOWN, loading=loading)
            if not ended.well and not self._pytest.run([test], None, _UNKNOWN, loading=loading).well:
                print(f"without any fault fails {test}: {ended.why}", file=sys.stderr)
                return True
            self._passes.add(test)
        return False

    def _failed(self, tests: Sequence[str], swap: Swap, reach: Reach, loading: bool) -> str:
        """The first test that fails, or what else went wrong; nothing, if all pass."""
        if not tests:
            return ""
        known = all(test in reach.tests for test in tests)
        longest = max((_seconds(test, reach) for test in tests), default=0.0)
        ended = self._pytest.run(tests, swap, _PATIENCE + _TIMES * longest if known else _UNKNOWN, loading=loading)
        if ended.code == HANGS:
            return HANGING
        return "" if ended.well else ended.failed or f"pytest ended with {ended.code}"


def _first_few(tests: list[str], killers: list[str]) -> list[list[str]]:
    """Tests that noticed something before and a few of all kinds, then the rest, file by file."""
    known = [test for test in killers if test in set(tests)][:_KILLERS]
    drawn = sorted(tests[: len(tests) // 2 + 1], key=_drawn)
    first = list(dict.fromkeys([*known, *sorted(drawn[:_AT_FIRST])]))
    return [first, sorted(set(tests) - set(first))]


def _drawn(test: str) -> str:
    """An order in which neighbours, which are much alike, do not follow each other."""
    return hashlib.sha256(test.encode()).hexdigest()


class Killers:
    """Tests that noticed something, the last one first: most faults of a file fall to few of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[str, list[str]] = {}

    def of(self, file: str) -> list[str]:
        return self._of.get(" ".join(tests_of(file)), [])

    def add(self, tried: Tried) -> None:
        if "::" in tried.by:
            with self._lock:
                area = " ".join(tests_of(tried.mutant.file))
                self._of[area] = [tried.by, *(by for by in self._of.get(area, []) if by != tried.by)]


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
