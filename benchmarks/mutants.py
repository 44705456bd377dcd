"""How many faults in the grader's own code its tests notice: one fault at a time, the tests of that area, in parallel.

    python -m benchmarks.mutants --count 400 --seed 0
    python -m benchmarks.mutants --only grader/sandbox --count 40

Faults are those that rubrics are proved with (grader/proving/mutations.py), drawn by a hash of what each changes, so
that editing one file draws new faults in that file alone. Each is put into a copy of the repository, where the tests
that `tests/areas.yaml` names for its file run until one fails. What has been tried is kept in a file (--state): the
same command goes on where it was stopped. A fault is tried again when its file changes; a survivor, also when its tests
do. Survivors that nobody could notice are explained, one by one, in benchmarks/mutants.yaml.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue

import yaml
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.areas import tests_of
from benchmarks.warm_pytest import HANGS, WarmPytest
from grader.proving.mutants import Candidate, Mutant, candidates

REPOSITORY = Path(__file__).resolve().parent.parent
EXPLAINED = REPOSITORY / "benchmarks" / "mutants.yaml"
LEAST_OF_A_ROOM = 8
# Seconds of the processor's time in which no test ends: the longest tests take a fifth of it.
PATIENCE = {"not slow": 120, "slow": 900, "": 900}
CHANCES = 3  # a test that fails now and then, because the machine is busy, is asked so often
HANGING = "it hangs"


@dataclass(frozen=True)
class Tried:
    mutant: Mutant
    noticed: bool
    by: str  # the test, or that it hung
    seconds: float


def room_of(file: str) -> str:
    """`grader/checks` for what lies in it, however deep; a file at the top is a room of its own."""
    parts = Path(file).parts
    return "/".join(parts[:2]) if len(parts) > 1 else file


def all_candidates(only: Iterable[str]) -> dict[str, list[Candidate]]:
    listed = _git("ls-files", "grader/*.py").split()
    chosen = [file for file in listed if not only or any(file.startswith(prefix) for prefix in only)]
    rooms: dict[str, list[Candidate]] = defaultdict(list)
    for file in chosen:
        rooms[room_of(file)] += candidates((REPOSITORY / file).read_text(encoding="utf-8"), file, guards=True)
    return rooms


def sample(rooms: dict[str, list[Candidate]], count: int, seed: int) -> list[Mutant]:
    """Some of every room, the rest by how much there is to get wrong in each: `count`, or a few more."""
    drawn = {room: _in_drawn_order(found, seed) for room, found in rooms.items()}
    rest = {room: len(found[LEAST_OF_A_ROOM:]) for room, found in drawn.items()}
    wanted = max(0, count - sum(len(found[:LEAST_OF_A_ROOM]) for found in drawn.values()))
    share = min(1, wanted / max(1, sum(rest.values())))
    chosen = {room: found[: LEAST_OF_A_ROOM + math.ceil(rest[room] * share)] for room, found in drawn.items()}
    return [one.mutant() for found in chosen.values() for one in found]


def _in_drawn_order(found: list[Candidate], seed: int) -> list[Candidate]:
    """By a hash of what is changed: where it stands in its file, and what else could be wrong there, play no part."""
    drawn: dict[str, Candidate] = {}
    for one in found:
        before, after = one.change()
        if before != after:  # swapping two zeros is no fault
            told = json.dumps([seed, one.file, one.place.within, before, after])
            drawn.setdefault(hashlib.sha256(told.encode()).hexdigest(), one)
    return [drawn[digest] for digest in sorted(drawn)]


class Workshop:
    """A copy of the repository in which one file at a time is wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for file in _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            if (REPOSITORY / file).is_file():
                shutil.copy2(REPOSITORY / file, folder / file)
        self._pytest = WarmPytest(folder)
        self._passes: set[tuple[str, ...]] = set()  # what has passed without a fault

    def close(self) -> None:
        self._pytest.close()

    def try_out(self, mutant: Mutant, first: list[str]) -> Tried | None:
        """`first` are tests that noticed something before: most faults fall to few of them.

        What fails has to fail again alone, and to pass without the fault: that the machine is busy is no fault. Nothing
        is said of a fault whose tests fail without it.
        """
        began, asked = time.perf_counter(), tests_of(mutant.file)
        with self._wrong(mutant):
            by, alone = self._noticed(asked, first)
        if alone and (failed := self._fails_anyway(alone)):
            print(f"{mutant.file}:{mutant.line} not tried: without any fault fails {failed}", file=sys.stderr)
            return None
        return Tried(mutant, bool(by), by, time.perf_counter() - began)

    def _noticed(self, asked: list[str], first: list[str]) -> tuple[str, tuple[str, ...]]:
        """What fails, and the tests that fail again without the others."""
        for _ in range(CHANCES):
            by = self._failed([*first, *asked], "not slow") or self._failed(asked, "slow")
            if by in ("", HANGING):
                return by, ()
            alone = (by,) if by.startswith("tests/") else tuple(asked)
            if self._failed(alone):
                return by, alone
        return "", ()

    @contextmanager
    def _wrong(self, mutant: Mutant) -> Iterator[None]:
        place = self.folder / mutant.file
        right = place.read_text(encoding="utf-8")
        place.write_text(mutant.text, encoding="utf-8")
        try:
            yield
        finally:
            place.write_text(right, encoding="utf-8")

    def _fails_anyway(self, tests: tuple[str, ...]) -> str:
        if tests not in self._passes:
            if failed := self._failed(tests) and self._failed(tests):
                return failed
            self._passes.add(tests)
        return ""

    def _failed(self, tests: Sequence[str], marked: str = "") -> str:
        """The first test that fails, or what else went wrong; nothing, if all pass."""
        options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no", "-rfE"]
        code, printed = self._pytest.run([*options, "-m", marked, *tests], PATIENCE[marked])
        if code == HANGS:
            return HANGING
        if code in (0, 5):  # 5: no test has that mark
            return ""
        lines = printed.strip().splitlines() or ["pytest ended without a word"]
        failed = [line.split(" ", 1)[1].split(" - ")[0] for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return _whole_name(failed[0]) if failed else lines[-1]


def _whole_name(test: str) -> str:
    """A case's name may hold what ends the test's own in pytest's list; then all cases are asked."""
    return test if test.endswith("]") else test.split("[")[0]


@contextmanager
def workshops(count: int) -> Iterator[SimpleQueue[Workshop]]:
    free: SimpleQueue[Workshop] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as temporary:
        shops = [Workshop(Path(temporary) / str(number)) for number in range(count)]
        for shop in shops:
            free.put(shop)
        try:
            yield free
        finally:
            for shop in shops:
                shop.close()


class State:
    """What was tried, in a file that is only added to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, object]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self._known[entry["key"]] = entry

    def known(self, mutant: Mutant) -> Tried | None:
        entry, tests = self._known.get(_key(mutant)), _tests_digest(mutant.file)
        if not entry or not (entry["noticed"] or reason(mutant) or entry["tests"] == tests):
            return None
        return Tried(mutant, bool(entry["noticed"]), str(entry["by"]), float(str(entry["seconds"])))

    def add(self, tried: Tried) -> None:
        entry = {
            "key": _key(tried.mutant),
            "tests": _tests_digest(tried.mutant.file),
            "place": f"{tried.mutant.file}:{tried.mutant.line}",
            "noticed": tried.noticed,
            "by": tried.by,
            "seconds": round(tried.seconds, 1),
        }
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _key(mutant: Mutant) -> str:
    return hashlib.sha256(mutant.text.encode()).hexdigest()


@cache
def _tests_digest(file: str) -> str:
    """Of the tests that are asked about a file, with the data among them, as they were before the first run."""
    digest = hashlib.sha256()
    for tests in tests_of(file):
        place = REPOSITORY / tests
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def try_all(mutants: list[Mutant], state: State, jobs: int) -> list[Tried]:
    found = [known for mutant in mutants if (known := state.known(mutant))]
    waiting = [mutant for mutant in mutants if not state.known(mutant)]
    killers: dict[str, list[str]] = defaultdict(list)
    with workshops(jobs) as free, ThreadPoolExecutor(jobs) as pool, Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("mutants", total=len(waiting))

        def one(mutant: Mutant) -> Tried | None:
            asked, shop = " ".join(tests_of(mutant.file)), free.get()
            try:
                tried = shop.try_out(mutant, killers[asked][:8])
            finally:
                free.put(shop)
            if tried and "::" in tried.by:
                killers[asked] = [tried.by, *(by for by in killers[asked] if by != tried.by)]
            if tried:
                state.add(tried)
            bar.advance(task)
            return tried

        found += (tried for tried in pool.map(one, waiting) if tried)
    return found


def report(tried: list[Tried], console: Console) -> None:
    table = Table("Room", "Tried", "Noticed", "Explained", "Survived", "Share")
    rooms: dict[str, list[Tried]] = defaultdict(list)
    for one in tried:
        rooms[room_of(one.mutant.file)].append(one)
    for room, those in [*sorted(rooms.items()), ("all", tried)]:
        noticed = sum(one.noticed for one in those)
        reasons = sum(bool(reason(one.mutant)) for one in those if not one.noticed)
        counted = len(those) - reasons
        share = f"{100 * noticed / counted:.0f} %" if counted else "–"
        table.add_row(room, str(len(those)), str(noticed), str(reasons), str(counted - noticed), share)
    console.print(table)
    for one in sorted(tried, key=lambda one: (one.mutant.file, one.mutant.line)):
        if not one.noticed:
            mutant = one.mutant
            console.print(f"{mutant.file}:{mutant.line} {mutant.within}", markup=False, soft_wrap=True)
            console.print(f"    {mutant.statement}\n  → {mutant.becomes}", markup=False, soft_wrap=True)
            if because := reason(mutant):
                console.print(f"    explained: {because}", markup=False, soft_wrap=True)


def reason(mutant: Mutant) -> str:
    """Why nobody could notice it, by what is changed into what: editing the file elsewhere does not lose it."""
    for entry in _explained().get(mutant.file, []):
        if (entry["statement"], entry["becomes"]) == (mutant.statement, mutant.becomes):
            return entry["because"]
    return ""


@cache
def _explained() -> dict[str, list[dict[str, str]]]:
    return dict(yaml.safe_load(EXPLAINED.read_text(encoding="utf-8")) or {})


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="a room or file; may be repeated")
    parser.add_argument("--state", type=Path, default=REPOSITORY / "build" / "mutants.jsonl")
    options = parser.parse_args()
    options.state.parent.mkdir(parents=True, exist_ok=True)
    mutants = sample(all_candidates(options.only), options.count, options.seed)
    report(try_all(mutants, State(options.state), options.jobs), Console())


if __name__ == "__main__":
    main()
