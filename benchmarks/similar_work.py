"""Whether planted copies are pointed to, and what that costs: `python -m benchmarks.similar_work`.

    python -m benchmarks.similar_work                           # two classes of 200: plain disguises, and harder ones
    python -m benchmarks.similar_work --students 500            # what a class of 500 costs
    python -m benchmarks.similar_work --students 10000 --equal  # ten thousand submissions that are all the same

Classes are made on the spot: honest students write standard solutions in their own way and hand in the course's code,
and for each disguise one student copies another's code. A false pointer is an honest pair before a planted one.
Seeds of the classes that the grader's numbers were chosen with: 1, 2, 3, 11, 12, 13; the ones here are others.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.made_class.disguises import Disguise
from benchmarks.made_class.making import HARD, PLAIN, Made, make_class
from grader.similar.comparing import Comparison, Request, compare
from grader.similar.page import similar_page

CLASSES: dict[str, tuple[int, Mapping[str, Disguise]]] = {"plain": (31337, PLAIN), "hard": (90210, HARD)}
FIRST = 10
LISTED = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--classes", default="plain,hard")
    parser.add_argument("--seed", type=int, help="of the first class; each further one has the next")
    parser.add_argument("--equal", action="store_true", help="everybody hands in the same")
    arguments = parser.parse_args()
    for number, name in enumerate(arguments.classes.split(",")):
        own, disguises = CLASSES[name]
        seed = own if arguments.seed is None else arguments.seed + number
        with tempfile.TemporaryDirectory(prefix="similar-") as temporary:
            made = make_class(Path(temporary), arguments.students, seed, disguises)
            if arguments.equal:
                _make_equal(made)
            print(f"\n{name}: {arguments.students} students, seed {seed}, {len(made.planted)} planted pairs")
            _report(made)


def _make_equal(made: Made) -> None:
    first, *others = sorted(made.submissions.iterdir())
    for other in others:
        shutil.rmtree(other)
        shutil.copytree(first, other)


def _report(made: Made) -> None:
    began = time.process_time()
    comparison = compare(Request(made.submissions, "dl-hw3", starters=(made.starter,), most=100), lambda *_: None)
    compared = time.process_time()
    size = len(similar_page(comparison))
    ended = time.process_time()
    _print_ranking(comparison, made)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(
        f"processor: {compared - began:.1f} s to compare, {ended - compared:.1f} s for a page of {size / 2**20:.1f} MB"
    )
    print(f"memory: {memory:.0f} MB at most")


def _print_ranking(comparison: Comparison, made: Made) -> None:
    pairs = [(comparison.names[a], comparison.names[b]) for a, b in (one.pair for one in comparison.findings.pointers)]
    for rank, (pair, one) in enumerate(zip(pairs, comparison.findings.pointers, strict=True), start=1):
        if rank <= LISTED or pair in made.planted:
            kinds = ", ".join(f"{part.kind} {part.mine:.0%}/{part.theirs:.0%}" for part in one.shared)
            label = made.planted.get(pair, "honest")
            print(f"{rank:4}  {one.strength:.2f}  {pair[0]} {pair[1]}  {label}: {kinds}")
    ranks = {label: pairs.index(pair) + 1 for pair, label in made.planted.items() if pair in pairs}
    early = sum(rank <= FIRST for rank in ranks.values())
    print(f"planted pairs among the first {FIRST}: {early} of {len(made.planted)}", end="; ")
    print(f"not among the first {len(pairs)}: {', '.join(set(made.planted.values()) - set(ranks)) or 'none'}")
    false = sum(pair not in made.planted for pair in pairs[: max(ranks.values(), default=0)])
    print(f"honest pairs before the last planted one that is listed: {false}")
    trainer = sum(
        "trainer" in passage.my_place
        for one in comparison.findings.pointers
        for part in one.shared
        for passage in part.passages
    )
    print(f"passages of starter code: {trainer}")
    for many in comparison.findings.many:
        print(f"the same in {len(many.holders)} submissions: {many.place}")


if __name__ == "__main__":
    main()
