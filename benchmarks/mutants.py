"""How many faults in the grader's own code its tests notice: one fault at a time, the tests of that area, in parallel.

    python -m benchmarks.mutants --count 400 --seed 0
    python -m benchmarks.mutants --only grader/sandbox --count 40

Faults are those that rubrics are proved with (grader/proving/mutations.py), drawn by room with a seed. Each is put
into a copy of the repository, where the tests that `tests/areas.yaml` names for its file run until one fails. What has
been tried is kept in a file (--state): the same command goes on where it was stopped, and tries again where code or
tests changed. Survivors that nobody could notice are explained, one by one, in benchmarks/mutants.yaml.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import yaml
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.areas import tests_of
from benchmarks.warm_pytest import TOOK_TOO_LONG, WarmPytest
from grader.proving.mutants import Candidate, Mutant, candidates

REPOSITORY = Path(__file__).resolve().parent.parent
EXPLAINED = REPOSITORY / "benchmarks" / "mutants.yaml"
LEAST_OF_A_ROOM = 8
LEAST_SECONDS = 120  # a fault that makes tests hang is noticed, but a busy machine must not look like one
SLOWER = 5


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
    """Some of every room, the rest by how much there is to get wrong in each."""
    rng = random.Random(seed)
    drawn = {room: rng.sample(found, len(found)) for room, found in sorted(rooms.items())}
    some = [one for found in drawn.values() for one in found[:LEAST_OF_A_ROOM]]
    rest = [one for found in drawn.values() for one in found[LEAST_OF_A_ROOM:]]
    chosen = rng.sample(some, len(some))[:count] + rng.sample(rest, min(len(rest), max(0, count - len(some))))
    made = (one.mutant() for one in chosen)
    # Swapping two zeros is no fault.
    return list({mutant.text: mutant for mutant in made if mutant.statement != mutant.becomes}.values())


class Workshop:
    """A copy of the repository in which one file at a time is wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for file in _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            if (REPOSITORY / file).is_file():
                shutil.copy2(REPOSITORY / file, folder / file)
        self._pytest = WarmPytest(folder)

    def close(self) -> None:
        self._pytest.close()

    def try_out(self, mutant: Mutant, first: list[str], seconds: float) -> Tried:
        """`first` are tests that noticed something before: most faults fall to few of them."""
        place = self.folder / mutant.file
        right = place.read_text(encoding="utf-8")
        place.write_text(mutant.text, encoding="utf-8")
        began = time.perf_counter()
        try:
            by = self._failed([*first, *tests_of(mutant.file)], "not slow", seconds)
            by = by or self._failed(tests_of(mutant.file), "slow", 2 * seconds)
        finally:
            place.write_text(right, encoding="utf-8")
        return Tried(mutant, bool(by), by, time.perf_counter() - began)

    def untouched(self, file: str) -> tuple[str, float]:
        """The test that fails without any fault, if one does, and how long all take."""
        began = time.perf_counter()
        return self._failed(tests_of(file), "not slow", 3600), time.perf_counter() - began

    def _failed(self, tests: list[str], marked: str, seconds: float) -> str:
        """The first test that fails, or what else went wrong; nothing, if all pass."""
        options = [
            "-x",
            "-q",
            "--no-header",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-m",
            marked,
            "--tb=no",
            "-rfE",
        ]
        code, printed = self._pytest.run([*options, *tests], seconds)
        if code == TOOK_TOO_LONG:
            return f"it hangs for more than {seconds:.0f} s"
        if code in (0, 5):  # 5: no test has that mark
            return ""
        lines = printed.strip().splitlines() or ["pytest ended without a word"]
        failed = [line.split(" ", 1)[1].split(" - ")[0] for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return failed[0] if failed else lines[-1]


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
        entry = self._known.get(_key(mutant))
        return Tried(mutant, bool(entry["noticed"]), str(entry["by"]), float(str(entry["seconds"]))) if entry else None

    def add(self, tried: Tried) -> None:
        entry = {
            "key": _key(tried.mutant),
            "place": f"{tried.mutant.file}:{tried.mutant.line}",
            "noticed": tried.noticed,
            "by": tried.by,
            "seconds": round(tried.seconds, 1),
        }
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _key(mutant: Mutant) -> str:
    """The wrong file and the tests that were asked: when either changes, it is tried again."""
    digest = hashlib.sha256(mutant.text.encode())
    for tests in tests_of(mutant.file):
        place = REPOSITORY / tests
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def try_all(mutants: list[Mutant], state: State, jobs: int) -> list[Tried]:
    found = [known for mutant in mutants if (known := state.known(mutant))]
    waiting = [mutant for mutant in mutants if not state.known(mutant)]
    took: dict[str, float] = {}
    killers: dict[str, list[str]] = defaultdict(list)
    with workshops(jobs) as free, ThreadPoolExecutor(jobs) as pool, Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("areas", total=None)

        def area(file: str) -> None:
            shop = free.get()
            try:
                failed, seconds = shop.untouched(file)
            finally:
                free.put(shop)
            if failed:
                raise SystemExit(f"without any fault, the tests of {file} fail already: {failed}")
            took[" ".join(tests_of(file))] = seconds

        files = {" ".join(tests_of(mutant.file)): mutant.file for mutant in waiting}
        list(pool.map(area, files.values()))
        bar.update(task, description="mutants", total=len(waiting), completed=0)

        def one(mutant: Mutant) -> Tried:
            asked, shop = " ".join(tests_of(mutant.file)), free.get()
            try:
                limit = max(LEAST_SECONDS, SLOWER * took[asked])
                tried = shop.try_out(mutant, killers[asked][:8], limit)
            finally:
                free.put(shop)
            if tried.noticed and "::" in tried.by:
                killers[asked] = [tried.by, *(by for by in killers[asked] if by != tried.by)]
            state.add(tried)
            bar.advance(task)
            return tried

        found += pool.map(one, waiting)
    return found


def report(tried: list[Tried], console: Console) -> None:
    explained = yaml.safe_load(EXPLAINED.read_text(encoding="utf-8")) or {}
    table = Table("Room", "Tried", "Noticed", "Explained", "Survived", "Share")
    rooms: dict[str, list[Tried]] = defaultdict(list)
    for one in tried:
        rooms[room_of(one.mutant.file)].append(one)
    for room, those in [*sorted(rooms.items()), ("all", tried)]:
        noticed = sum(one.noticed for one in those)
        reasons = sum(bool(_reason(one, explained)) for one in those if not one.noticed)
        counted = len(those) - reasons
        share = f"{100 * noticed / counted:.0f} %" if counted else "–"
        table.add_row(room, str(len(those)), str(noticed), str(reasons), str(counted - noticed), share)
    console.print(table)
    for one in sorted(tried, key=lambda one: (one.mutant.file, one.mutant.line)):
        if not one.noticed:
            mutant, reason = one.mutant, _reason(one, explained)
            console.print(f"{mutant.file}:{mutant.line} {mutant.within}", markup=False, soft_wrap=True)
            console.print(f"    {mutant.statement}\n  → {mutant.becomes}", markup=False, soft_wrap=True)
            if reason:
                console.print(f"    explained: {reason}", markup=False, soft_wrap=True)


def _reason(one: Tried, explained: dict[str, list[dict[str, str]]]) -> str:
    """By what is changed into what, so that editing the file elsewhere does not lose it."""
    for entry in explained.get(one.mutant.file, []):
        if (entry["statement"], entry["becomes"]) == (one.mutant.statement, one.mutant.becomes):
            return entry["because"]
    return ""


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
