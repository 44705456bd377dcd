"""How many faults in the grader's own code its tests notice: one fault at a time, the tests of that area, in parallel.

    python -m benchmarks.mutants --count 400 --seed 0
    python -m benchmarks.mutants --only grader/sandbox --only grader/grading/engine.py --count 50 --least 25

Faults are those that rubrics are proved with (grader/proving/mutations.py), drawn by a hash of what each changes, so
that editing one file draws new faults in that file alone. Each is put into a copy of the repository, where the tests
that might notice it run until one fails (benchmarks/trials.py). What has been tried is kept in a file (--state): the
same command goes on where it was stopped. A fault is tried again when its file changes; a survivor, also when its tests
do. Survivors that nobody could notice are explained, one by one, in benchmarks/mutants.yaml; why others are left is
said in benchmarks/survivors.yaml.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from rich.console import Console
from rich.progress import Progress, TaskID

from benchmarks.areas import REPOSITORY, tests_of
from benchmarks.mutant_report import Fate, report, room_of
from benchmarks.mutant_state import State, tests_digest
from benchmarks.reach import Reach
from benchmarks.trials import Asked, Killers, Tried, Workshop, git, lies_in
from grader.proving.mutants import Candidate, Mutant, candidates

LEAST_OF_A_ROOM = 8
_PAGE = 120  # characters of a line in a file: the table fits


def all_candidates(only: Iterable[str]) -> dict[str, list[Candidate]]:
    listed = git("ls-files", "grader/*.py").split()
    chosen = [file for file in listed if not only or any(file.startswith(prefix) for prefix in only)]
    rooms: dict[str, list[Candidate]] = defaultdict(list)
    for file in chosen:
        rooms[room_of(file)] += candidates((REPOSITORY / file).read_text(encoding="utf-8"), file, guards=True)
    return rooms


def sample(rooms: dict[str, list[Candidate]], count: int, seed: int, least: int = LEAST_OF_A_ROOM) -> list[Mutant]:
    """At least so many of every room, the rest by how much there is to get wrong in each: `count`, or a few more."""
    drawn = {room: _in_drawn_order(found, seed) for room, found in rooms.items()}
    rest = {room: len(found[least:]) for room, found in drawn.items()}
    wanted = max(0, count - sum(len(found[:least]) for found in drawn.values()))
    share = min(1, wanted / max(1, sum(rest.values())))
    chosen = {room: found[: least + math.ceil(rest[room] * share)] for room, found in drawn.items()}
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


def try_all(mutants: list[Mutant], state: State, reach: Reach, jobs: int, *, quick: bool, unrecorded: bool) -> None:
    """Asks quick tests about all of them, then slow ones about those that are left, unless `quick` ones are enough.

    Of tests that are left `unrecorded`, nobody knows what they do not reach: then all of the area are asked.
    """
    left = [mutant for mutant in mutants if not state.known(mutant)]
    for mutant in left:
        tests_digest(mutant.file)  # as they are now, when they are copied: somebody may write more of them meanwhile
    with workshops(jobs) as free, ThreadPoolExecutor(jobs) as pool, Progress(console=Console(stderr=True)) as bar:
        shop = free.get()
        tests = shop.tests()
        free.put(shop)
        killers = Killers()
        for slow in (False,) if quick else (False, True):
            if not unrecorded:
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

            left = [tried.mutant for tried in pool.map(one, left) if tried and not tried.slow]


def _files_of(mutants: Iterable[Mutant], tests: dict[str, bool], *, slow: bool) -> list[str]:
    """The files of the tests of these areas."""
    places = {place for mutant in mutants for place in tests_of(mutant.file)}
    return sorted({test.split("::")[0] for test in tests if tests[test] == slow and lies_in(test, places)})


def fate(mutant: Mutant, state: State) -> Fate:
    last = state.last(mutant)
    return Fate(mutant, True, state.noticed_at_first(mutant), last.noticed) if last else Fate(mutant, False)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--least", type=int, default=LEAST_OF_A_ROOM, metavar="N", help="draw at least so many of every room"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="a room or file; may be repeated")
    parser.add_argument(
        "--quick", action="store_true", help="do not ask slow tests about what quick ones do not notice"
    )
    parser.add_argument(
        "--unrecorded",
        action="store_true",
        help="record nothing more, ask all tests of an area that are not known: quicker where few faults are left",
    )
    parser.add_argument("--known", action="store_true", help="ask nothing, tell what is known")
    parser.add_argument("--state", type=Path, default=REPOSITORY / "build" / "mutants.jsonl")
    options = parser.parse_args()
    options.state.parent.mkdir(parents=True, exist_ok=True)
    mutants = sample(all_candidates(options.only), options.count, options.seed, options.least)
    reach = Reach(REPOSITORY, options.state.with_suffix(".reach"))
    state = State(options.state)
    if not options.known:
        try_all(mutants, state, reach, options.jobs, quick=options.quick, unrecorded=options.unrecorded)
    report([fate(mutant, state) for mutant in mutants], Console(width=None if sys.stdout.isatty() else _PAGE))


if __name__ == "__main__":
    main()
