"""A class of ten thousand: do the last thousand submissions cost more than the first, in time or memory?

    nice -n 19 python -m benchmarks.long_class --count 10000

Each student hands in one small file, no two alike, and one check judges it: all that a batch does for a submission is
done, and the student's own share is as small as it can be. Processor time is that of the batch, its jobs, their fork
servers and all boxes; memory is what is resident. The time that was said to be left is compared with the time that it
then took. The first tenth has the start of everything in it, so the second stands for the beginning. At the end the
same class is graded again, unchanged.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.batch.finding import Found
from grader.batch.running import Order, Tally, run_batch

CORES = len(os.sched_getaffinity(0))
TICKS = os.sysconf("SC_CLK_TCK")

RUBRIC = """
rubric: long-class
title: Attention
points: 1
problems:
  - id: "1"
    title: Attention
    points: 1
    checks:
      - {check: columns_sum_to_one, points: 1, file: attention.py, function: softargmax}
"""
WORK = """
import numpy as np

def softargmax(scores, beta=1.0):
    weights = np.exp(beta * (scores - scores.max(axis=0)))
    return weights / weights.sum(axis=0)

# {number}
"""


@dataclass(frozen=True)
class Mark:
    """How things stood after some submissions."""

    done: int
    wall: float
    processor: float
    grader_mb: float
    others_mb: float  # the largest job or fork server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=CORES)
    arguments = parser.parse_args()
    count, span = arguments.count, max(1, arguments.count // 10)
    with tempfile.TemporaryDirectory(prefix="long-class-") as temporary:
        folder = Path(temporary)
        (folder / "long-class.yaml").write_text(RUBRIC)
        for number in range(count):
            (folder / "in" / f"s{number:05}").mkdir(parents=True)
            (folder / "in" / f"s{number:05}" / "attention.py").write_text(WORK.format(number=number))
        order = Order(folder / "in", folder / "out", arguments.jobs, rubric=str(folder / "long-class.yaml"))
        print(f"{count} submissions, {arguments.jobs} jobs, load {os.getloadavg()[0]:.1f}", flush=True)
        _graded(order, count, span)
        print("The same class again, unchanged", flush=True)
        _graded(order, count, span)


def _graded(order: Order, count: int, span: int) -> None:
    marks: dict[int, Mark] = {}
    said: list[tuple[int, float, float]] = []  # after how many, the seconds left, and when

    def watch(tally: Tally) -> None:
        if tally.done % span == 0 and tally.done not in marks:
            marks[tally.done] = here = _mark(tally.done)
            if before := marks.get(tally.done - span):
                spent = _each(before, here)[0]
                print(f"  {here.done}: {spent:.1f} ms of processor time each, {here.grader_mb:.0f} MB", flush=True)
        if tally.done in (count // 4, count // 2, 3 * count // 4) and tally.seconds_left is not None:
            said.append((tally.done, tally.seconds_left, time.perf_counter()))

    began = time.perf_counter()
    tally = run_batch(order, lambda found: _all_there(found, count), watch)
    over = _mark(count)
    assert (tally.done, tally.ungraded) == (count, 0)
    first, last = _each(marks[span], marks[2 * span]), _each(marks[count - span], marks[count])
    for name, early, late in zip(("processor time", "wall time"), first, last, strict=True):
        print(f"  {name} of each: {span} to {2 * span} {early:.1f} ms, last {span} {late:.1f} ms: {late / early:.2f} ×")
    begin, end = marks[span], marks[count]
    print(f"  resident: batch {begin.grader_mb:.0f} MB, then {end.grader_mb:.0f} MB;", end=" ")
    print(f"largest process beside it {begin.others_mb:.0f} MB, then {end.others_mb:.0f} MB")
    for done, left, at in said:
        print(f"  after {done}: {left:.0f} s were said to be left, and it took {end.wall - at:.0f} s")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  pages, after the last one: {over.wall - end.wall:.1f} s; batch {most:.0f} MB at most")
    print(f"  all told {over.wall - began:.0f} s", flush=True)


def _each(before: Mark, after: Mark) -> tuple[float, float]:
    """Milliseconds of processor and wall time for a submission between two marks."""
    count = after.done - before.done
    return 1000 * (after.processor - before.processor) / count, 1000 * (after.wall - before.wall) / count


def _all_there(found: Found, size: int) -> None:
    assert len(found.submissions) == size


def _mark(done: int) -> Mark:
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it has ended since
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            parents[int(process)] = int(fields[1])
            spent[int(process)] = sum(map(int, fields[11:15])) / TICKS  # its own, and that of children it waited for
    family, added = {os.getpid()}, True
    while added:
        children = {process for process, parent in parents.items() if parent in family} - family
        family, added = family | children, bool(children)
    others = [_resident_mb(process) for process in family if process != os.getpid()]
    total = sum(spent.get(process, 0.0) for process in family)
    return Mark(done, time.perf_counter(), total, _resident_mb(os.getpid()), max(others, default=0.0))


def _resident_mb(process: int) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    main()
