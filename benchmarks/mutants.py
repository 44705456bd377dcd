"""How many faults in the grader's own code its tests notice: one fault at a time, the tests of that area, in parallel.

    python -m benchmarks.mutants --count 400 --seed 0
    python -m benchmarks.mutants --only grader/sandbox --count 40

Faults are those that rubrics are proved with (grader/proving/mutations.py), drawn by a hash of what each changes, so
that editing one file draws new faults in that file alone. Each is put into a copy of the repository, where the tests
that might notice it run until one fails (benchmarks/trials.py). What has been tried is kept in a file (--state): the
same command goes on where it was stopped. A fault is tried again when its file changes; a survivor, also when its tests
do. Survivors that nobody could notice are explained, one by one, in benchmarks/mutants.yaml.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import SimpleQueue

import yaml
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from benchmarks.areas import REPOSITORY, tests_of
from benchmarks.reach import Reach
from benchmarks.trials import Asked, Killers, Tried, Workshop, git, lies_in
from grader.proving.mutants import Candidate, Mutant, candidates

EXPLAINED = REPOSITORY / "benchmarks" / "mutants.yaml"
LEAST_OF_A_ROOM = 8


def room_of(file: str) -> str:
    """`grader/checks` for what lies in it, however deep; a file at the top is a room of its own."""
    parts = Path(file).parts
    return "/".join(parts[:2]) if len(parts) > 1 else file


def all_candidates(only: Iterable[str]) -> dict[str, list[Candidate]]:
    listed = git("ls-files", "grader/*.py").split()
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


@contextmanager
def workshops(count: int) -> Iterator[SimpleQueue[Workshop]]:
    free: SimpleQueue[Workshop] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as temporary:
        shops = [Workshop(Path(temporary) / str(number)) for number in range(count)]
        try:
            with ThreadPoolExecutor(count) as pool:  # before anything is wrong: what they have loaded stays
                list(pool.map(Workshop.tests, shops))
            for shop in shops:
                free.put(shop)
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
        if not entry or not (entry["noticed"] or reason(mutant) or (entry["slow"] and self._same_tests(mutant))):
            return None
        return Tried(mutant, bool(entry["noticed"]), str(entry["by"]), float(str(entry["seconds"])))

    def survives_quick_ones(self, mutant: Mutant) -> Tried | None:
        entry = self._known.get(_key(mutant))
        if not entry or entry["slow"] or not self._same_tests(mutant):
            return None
        return Tried(mutant, False, "", float(str(entry["seconds"])), slow=False)

    def _same_tests(self, mutant: Mutant) -> bool:
        return self._known[_key(mutant)]["tests"] == _tests_digest(mutant.file)

    def add(self, tried: Tried) -> None:
        entry = {
            "key": _key(tried.mutant),
            "tests": _tests_digest(tried.mutant.file),
            "place": f"{tried.mutant.file}:{tried.mutant.line}",
            "noticed": tried.noticed,
            "by": tried.by,
            "seconds": round(tried.seconds, 1),
            "slow": tried.slow,
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


def try_all(mutants: list[Mutant], state: State, reach: Reach, jobs: int, *, quick: bool) -> list[Tried]:
    """Asks quick tests about all of them, then slow ones about those that are left, unless `quick` ones are enough."""
    found = [known for mutant in mutants if (known := state.known(mutant))]
    left = [mutant for mutant in mutants if not state.known(mutant)]
    with workshops(jobs) as free, ThreadPoolExecutor(jobs) as pool, Progress(console=Console(stderr=True)) as bar:
        shop = free.get()
        tests = shop.tests()
        free.put(shop)
        killers = Killers()
        for slow in (False,) if quick else (False, True):
            reach.record(_files_of(left, tests, slow=slow), "slow" if slow else "not slow", jobs)
            task = bar.add_task("slow tests" if slow else "quick tests", total=len(left))

            def one(mutant: Mutant, slow: bool = slow, task: TaskID = task) -> Tried | None:
                tried = None if slow else state.survives_quick_ones(mutant)
                if not tried:
                    asked, shop = Asked.about(mutant, tests, reach), free.get()
                    try:
                        tried = shop.try_out(mutant, asked, killers.of(mutant.file), reach, slow=slow)
                    finally:
                        free.put(shop)
                    if tried:
                        killers.add(tried)
                        state.add(tried)
                bar.advance(task)
                return tried

            done = [tried for tried in pool.map(one, left) if tried]
            found += [tried for tried in done if tried.slow or quick]
            left = [tried.mutant for tried in done if not tried.slow]
    return found


def _files_of(mutants: Iterable[Mutant], tests: dict[str, bool], *, slow: bool) -> list[str]:
    """The files of the tests of these areas."""
    places = {place for mutant in mutants for place in tests_of(mutant.file)}
    return sorted({test.split("::")[0] for test in tests if tests[test] == slow and lies_in(test, places)})


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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="a room or file; may be repeated")
    parser.add_argument(
        "--quick", action="store_true", help="do not ask slow tests about what quick ones do not notice"
    )
    parser.add_argument("--state", type=Path, default=REPOSITORY / "build" / "mutants.jsonl")
    options = parser.parse_args()
    options.state.parent.mkdir(parents=True, exist_ok=True)
    mutants = sample(all_candidates(options.only), options.count, options.seed)
    reach = Reach(REPOSITORY, options.state.with_suffix(".reach"))
    state = State(options.state)
    report(try_all(mutants, state, reach, options.jobs, quick=options.quick), Console())


if __name__ == "__main__":
    main()
