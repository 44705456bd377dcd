"""How many submissions a second: this grader, a pytest process for each submission, and the bare student code.

    python -m benchmarks.throughput --problems 2.1,2.2             # 100, 500 and 2,000 submissions, some twenty minutes
    python -m benchmarks.throughput --sizes 40                     # a quick look at all five pieces of code
    python -m benchmarks.throughput --problems 2.1,2.2 --others    # otter-grader and nbgrader too (other_graders.py)
    python -m benchmarks.throughput --problems 2.1,2.2 --sizes 500 --jobs 2 --rounds 5    # and medians of five

All run in one go on the same submissions and the same checks (dl-hw3's implementation part). The pytest process calls
the same check functions on the student's module in its own process, with no box. "An empty pytest process" imports what
the problems need and tests nothing: no process for each submission can be quicker. "Bare" imports the student's files
and makes the same calls, and nothing else, again and again in a process that is warm; it is measured right before and
right after the grader, on as many cores at once as that has jobs, and its median counts. "The least" is the quickest of
its first five rounds on an idle machine, a moment that no batch has five hundred times. With several rounds everything
takes turns, so that what else the machine does falls on all alike. All may keep the bytecode of what they import.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from grader.batch.finding import Found
from grader.batch.running import Order, Tally, run_batch
from grader.rubric.loading import load_rubric

REPOSITORY = Path(__file__).resolve().parent.parent
RUBRIC = REPOSITORY / "rubrics" / "dl-hw3" / "rubric.yaml"
MODEL = REPOSITORY / "submissions" / "ada"
PYTEST_PROCESSES = 12  # each takes a second or more; their mean is steady long before that
LEAST_OF = 5  # rounds of bare code
BARE_SECONDS = 2.0  # some two hundred rounds of 2.1 and 2.2
_LOOKS_EVERY = 1.0  # seconds, at memory: to look at all processes takes milliseconds of what is being measured
CORES = len(os.sched_getaffinity(0))

TEST = """
import sys
import numpy as np
import pytest
from benchmarks.plain_student import cases

@pytest.mark.parametrize(("name", "judge"), cases({problems!r}))
def test_check(name, judge):
    assert judge().score == 1
"""
EMPTY = "{imports}\n\ndef test_nothing():\n    pass\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100,500,2000")
    parser.add_argument("--problems", default="2.1,2.2,2.3,2.4,2.5", help="of dl-hw3: which ones count")
    parser.add_argument("--jobs", default="1,2")
    parser.add_argument("--rounds", type=int, default=1, help="so often everything, in turns; then medians")
    parser.add_argument(
        "--others", action="store_true", help="otter-grader and nbgrader on 2.1 and 2.2 too; installs them from PyPI"
    )
    arguments = parser.parse_args()
    problems = tuple(arguments.problems.split(","))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # whoever compiles everything anew looks half as fast as it is
    sizes, jobs = ([int(one) for one in given.split(",")] for given in (arguments.sizes, arguments.jobs))
    asked = [one for one in load_rubric(RUBRIC).problems if one.id in problems]
    checks = sum(len(one.checks) for one in asked)
    libraries = tuple(dict.fromkeys(name for one in asked for name in one.libraries))
    print(f"dl-hw3 {', '.join(problems)}: {checks} checks, {CORES} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="throughput-") as temporary:
        # Nothing is removed before the end: to make files takes the longer, the more were removed shortly before.
        folder = Path(temporary)
        classes = {size: class_of(folder / f"class-{size}", size) for size in sizes}
        rounds = [
            _round(problems, libraries, classes, jobs, folder / f"round-{number}") for number in range(arguments.rounds)
        ]
    if len(rounds) > 1:
        print(f"medians of {len(rounds)} rounds, which took turns:")
        for what in rounds[0]:
            print(f"  {what}: {statistics.median(one[what] for one in rounds):.2f}")
    if arguments.others:
        sys.stdout.flush()
        subprocess.run([sys.executable, "-m", "benchmarks.other_graders"], cwd=REPOSITORY, check=True)


def _round(
    problems: tuple[str, ...], libraries: tuple[str, ...], classes: dict[int, Path], jobs: list[int], folder: Path
) -> dict[str, float]:
    """Everything once. Prints what it finds, and returns it by name."""
    folder.mkdir()
    seconds = _pytest(folder, TEST.format(problems=problems), 1)
    both = _pytest(folder, TEST.format(problems=problems), CORES)
    empty = _pytest(folder, EMPTY.format(imports="\n".join(f"import {name}" for name in libraries)), CORES)
    least = min(bare_rounds(problems, 1, 0.0)[:LEAST_OF])
    found = {
        "pytest, one process per submission, one at a time, a second": 1 / seconds,
        f"pytest, one process per submission, {CORES} at a time, a second": 1 / both,
        f"an empty pytest process, {CORES} at a time, a second": 1 / empty,
        f"bare student compute, one core, the least of {LEAST_OF}, a second": 1 / least,
    }
    for what, figure in found.items():
        print(f"{what}: {figure:.2f}")
    for size, submissions in classes.items():
        for number in jobs:
            cores = min(CORES, number)
            before = bare_rounds(problems, cores, BARE_SECONDS)
            measured = _grader(submissions, folder / f"out-{size}-{number}", number, problems)
            bare = statistics.median(before + bare_rounds(problems, cores, BARE_SECONDS))
            ratios = {**_ratios(measured, seconds, both), **_times_bare(measured, cores, bare, least)}
            print(_line(measured, ratios))
            named = f"grader, {number} job{'s' if number > 1 else ''}, {size} submissions"
            found |= {f"{named}, {what}": figure for what, figure in ratios.items()}
    return found


def class_of(folder: Path, size: int) -> Path:
    for number in range(size):
        target = folder / f"s{number:05}"
        shutil.copytree(MODEL, target)
        with (target / "attention.py").open("a") as file:
            file.write(f"\n# {number}\n")  # no two are the same, so nothing is taken for unchanged
    return folder


def _pytest(folder: Path, test: str, at_a_time: int) -> float:
    """Seconds per submission."""
    (folder / "test_submission.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "test_submission.py")]
    environment = {**os.environ, "PYTHONPATH": f"{MODEL}:{REPOSITORY}", "OMP_NUM_THREADS": "1"}

    def once(_: int) -> None:
        done = subprocess.run(command, cwd=MODEL, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout

    once(0)  # warms the disk
    began = time.perf_counter()
    with ThreadPoolExecutor(at_a_time) as pool:
        list(pool.map(once, range(PYTEST_PROCESSES)))
    return (time.perf_counter() - began) / PYTEST_PROCESSES


def bare_rounds(problems: tuple[str, ...], at_once: int, for_seconds: float) -> list[float]:
    """Seconds per submission for its imports and calls alone, in processes that have the libraries loaded."""
    code = f"from benchmarks.plain_student import bare_seconds; print(*bare_seconds({problems!r}, {for_seconds}))"
    environment = {**os.environ, "PYTHONPATH": f"{MODEL}:{REPOSITORY}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code]
    processes = [
        subprocess.Popen(command, cwd=MODEL, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(at_once)
    ]
    said = [process.communicate()[0] for process in processes]
    assert not any(process.returncode for process in processes)
    return [float(one) for line in said for one in line.split()]


@dataclass
class _Measured:
    size: int
    jobs: int
    moments: list[float] = field(default_factory=list)  # when each submission was done
    seconds: float = 0.0
    largest_mb: dict[str, float] = field(default_factory=dict)
    at_half_mb: float = 0.0


def _grader(submissions: Path, out: Path, jobs: int, problems: tuple[str, ...]) -> _Measured:
    measured = _Measured(len(list(submissions.iterdir())), jobs)
    over = threading.Event()
    memory = threading.Thread(target=_watch_memory, args=(measured, over))
    memory.start()

    def watch(tally: Tally) -> None:
        if tally.done:
            measured.moments.append(time.perf_counter())

    began = time.perf_counter()
    order = Order(submissions, out, jobs, rubric=str(RUBRIC), problems=problems)
    tally = run_batch(order, lambda found: _all_there(found, measured.size), watch)
    measured.seconds = time.perf_counter() - began
    over.set()
    memory.join()
    assert (tally.done, tally.ungraded) == (measured.size, 0)
    return measured


def _all_there(found: Found, size: int) -> None:
    assert len(found.submissions) == size


def _watch_memory(measured: _Measured, over: threading.Event) -> None:
    own = os.getpid()
    while not over.wait(_LOOKS_EVERY):
        parents: dict[int, int] = {}
        for process in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):  # it has ended since
                parents[int(process)] = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        jobs = [process for process, parent in parents.items() if parents.get(parent) == own]  # out of one process
        sizes = {"grader": _resident_mb(own), "job": max(map(_resident_mb, jobs), default=0.0)}
        for name, size in sizes.items():
            measured.largest_mb[name] = max(measured.largest_mb.get(name, 0.0), size)
        if len(measured.moments) <= measured.size // 2:
            measured.at_half_mb = max(measured.at_half_mb, sizes["job"])


def _resident_mb(process: int) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0.0


def _ratios(measured: _Measured, seconds: float, both: float) -> dict[str, float]:
    each, running = _seconds_each(measured)
    return {
        "with its start, a second": 1 / each,
        "running, a second": 1 / running,
        "× pytest": seconds / each,
        f"× {CORES} pytests": both / each,
        f"running, × {CORES} pytests": both / running,
    }


def _times_bare(measured: _Measured, cores: int, bare: float, least: float) -> dict[str, float]:
    each, running = _seconds_each(measured)
    return {
        "bare compute beside it, for each core, a second": 1 / bare,
        "times the bare compute, for each core": cores * each / bare,
        "running, times the bare compute, for each core": cores * running / bare,
        "running, times the least of bare compute, for each core": cores * running / least,
    }


def _seconds_each(measured: _Measured) -> tuple[float, float]:
    """With the start, and once it runs."""
    return measured.seconds / measured.size, sum(_first_and_last(measured)) / 2


def _first_and_last(measured: _Measured) -> tuple[float, float]:
    """Seconds that a submission took in the first quarter, once one was done, and in the last."""
    moments, quarter = measured.moments, max(2, measured.size // 4)
    first = (moments[quarter - 1] - moments[0]) / (quarter - 1)
    return first, (moments[-1] - moments[-quarter]) / (quarter - 1)


def _line(measured: _Measured, ratios: dict[str, float]) -> str:
    first, last = _first_and_last(measured)
    figures = "; ".join(f"{figure:.1f} {what}" for what, figure in ratios.items())
    return (
        f"grader, {measured.jobs} job{'s' if measured.jobs > 1 else ''}, {measured.size:5} submissions: {figures}; "
        f"last quarter costs {last / first:.2f} × the first; grader {measured.largest_mb.get('grader', 0):.0f} MB, "
        f"job {measured.largest_mb.get('job', 0):.0f} MB ({measured.at_half_mb:.0f} MB in the first half)"
    )


if __name__ == "__main__":
    main()
