"""What Dask costs: beside local jobs, for each task alone, and for ten thousand students on many workers.

    python -m benchmarks.clusters                    # 500 submissions each way; some minutes on idle cores
    python -m benchmarks.clusters --count 40         # a quick look
    python -m benchmarks.clusters --only simulation  # costs for each task, and what follows from them

The first part grades the same class (dl-hw3 2.1 and 2.2) with `--jobs 2` and with `--dask local:2`, in turn: time on
the wall, which means something on idle cores only. The second sends as many empty
tasks with parcels of true size through a scheduler and a worker that are processes of their own. The third takes the
costs of an nlp-a5 submission (processor time; for the disk the shortest of several times) and plays ten thousand
submissions through one writer, one scheduler, one network and so many workers.
"""

from __future__ import annotations

import argparse
import heapq
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import psutil
from distributed import Client, get_worker

from benchmarks.throughput import RUBRIC, class_of
from grader.batch.cluster.parcels import answer_from, graded_from, hand_in_parcel, rubric_parcel
from grader.batch.cluster.sealing import packed, unpacked
from grader.batch.course.person import Person
from grader.batch.course.settings_log import HandIn
from grader.batch.files import write_files
from grader.batch.finding import HandedIn
from grader.batch.gradebook import Gradebook, Run
from grader.batch.grading import Graded, Grading, Plan
from grader.batch.running import Order, Tally, run_batch
from grader.grading.randomness import Draw
from grader.rubric.loading import load_rubric

REPOSITORY = Path(__file__).resolve().parent.parent
NLP_A5, ALICE = REPOSITORY / "rubrics" / "nlp-a5" / "rubric.yaml", REPOSITORY / "submissions" / "alice"
PROBLEMS = ("2.1", "2.2")
STUDENTS = 10_000
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
BYTES_PER_SECOND = 125e6  # one gigabit: what any cluster has between its machines
IN_FLIGHT = 2  # tasks for each worker, as the writer gives them out
_PAGES = (0, 2, 4, 24)  # students of classes whose pages are written; the first ones load what draws them
STILL_LINEAR = 0.9  # of what as many workers could do


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="submissions, and empty tasks")
    parser.add_argument("--rounds", type=int, default=1, help="of the comparison with jobs")
    parser.add_argument("--only", choices=("overhead", "engine", "simulation"))
    arguments = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="clusters-") as temporary:
        if arguments.only in (None, "overhead"):
            overhead(Path(temporary), arguments.count, arguments.rounds)
        if arguments.only != "overhead":
            costs = measured(Path(temporary), arguments.count)
            print(costs.told())
            if arguments.only != "engine":
                simulation(costs)


# Beside local jobs.


def overhead(folder: Path, count: int, rounds: int) -> None:
    submissions = class_of(folder / "class", count)
    ways: dict[str, dict[str, Any]] = {"--jobs 2": {"jobs": 2}, "--dask local:2": {"jobs": 2, "dask": "local:2"}}
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for number in range(rounds):
        for way, how in ways.items():
            found[way].append(_graded(submissions, folder / f"{way[2:6]}-{number}", count, how))
            whole, running = found[way][-1]
            print(f"{way:15} {count} submissions: {whole:.1f} s, {count / running:.2f}/s once running")
    jobs, dask = ([statistics.median(column) for column in zip(*found[way], strict=True)] for way in ways)
    shares = (f"{100 * (dask[place] / jobs[place] - 1):+.1f} %" for place in range(2))
    print("Dask against jobs, medians: {} with the start, {} once running".format(*shares))


def _graded(submissions: Path, out: Path, count: int, how: dict[str, Any]) -> tuple[float, float]:
    """Seconds in all, and from the first result to the last (for all of them)."""
    moments: list[float] = []
    seen = 0

    def watch(tally: Tally) -> None:
        nonlocal seen
        if tally.done > seen:
            seen = tally.done
            moments.append(time.perf_counter())

    began = time.perf_counter()
    order = Order(submissions, out, rubric=str(RUBRIC), problems=PROBLEMS, **how)
    tally = run_batch(order, lambda found: None, watch)
    assert (tally.done, tally.ungraded) == (count, 0), tally
    running = (moments[-1] - moments[0]) * count / (count - 1)
    return time.perf_counter() - began, running


# What one submission costs, and whom.


@dataclass(frozen=True)
class Costs:
    """Seconds for one submission, but for `start`; and bytes."""

    grading: float
    packing: float
    writer_dask: float
    scheduler: float
    worker_dask: float
    unpacking: float
    keeping: float
    page: float
    start: float
    rubric_bytes: float
    sent_bytes: float
    answer_bytes: float

    def told(self) -> str:
        units = {name: ("bytes", 1.0) if "bytes" in name else ("ms", 1000.0) for name in (f.name for f in fields(self))}
        lines = [f"  {name:13} {getattr(self, name) * by:10,.1f} {unit}" for name, (unit, by) in units.items()]
        engine = 1000 * (self.writer_dask + self.scheduler + self.worker_dask)
        return "\n".join([f"an nlp-a5 submission (the engine alone: {engine:.1f} ms of all processes)", *lines])


def measured(folder: Path, count: int) -> Costs:
    plan = Plan(NLP_A5, None, (), Draw(0, None), unsafe=False)
    handed_in = HandedIn("alice", ALICE)
    started, (graded, grading) = _in_one_process(plan, handed_in)
    parcel = hand_in_parcel(handed_in, None, False)
    words, content = parcel.sealed()
    answer = packed(answer_from(graded))
    writer, scheduler, worker = _empty_tasks(folder, count, words, content, answer)
    keeping, page = _kept(folder / "kept", graded)
    rubric_words, rubric_content = rubric_parcel(plan, load_rubric(NLP_A5), None).sealed()
    return Costs(
        grading=grading,
        packing=_least(lambda: hand_in_parcel(handed_in, None, False).sealed()),
        writer_dask=writer,
        scheduler=scheduler,
        worker_dask=worker,
        unpacking=_least(lambda: graded_from(unpacked(answer), handed_in)),
        keeping=keeping,
        page=page,
        start=started,
        rubric_bytes=len(rubric_words) + len(rubric_content),
        sent_bytes=len(words) + len(content),
        answer_bytes=len(answer),
    )


def _least(action: Callable[[], Any], times: int = 20) -> float:
    found = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        found.append(time.perf_counter() - began)
    return min(found)


def _spent() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _in_one_process(plan: Plan, handed_in: HandedIn) -> tuple[float, tuple[Graded, float]]:
    """Processor time of a start with one submission less that one, and of one more."""
    spent = []
    for times in (1, 4):
        before = _spent()
        with Grading(plan) as grading:
            for _ in range(times):
                graded = grading.grade_one(handed_in, None)
        spent.append(_spent() - before)
    each = (spent[1] - spent[0]) / 3
    return spent[0] - each, (graded, each)


def _kept(out: Path, graded: Graded) -> tuple[float, float]:
    """Seconds to keep a result, and for each further student's page and report."""
    assert graded.result is not None
    spent = []
    with Gradebook(out, new=True) as gradebook:
        run = gradebook.begin_run(Run(str(NLP_A5), None, 0, (), ""), "nlp-a5", "benchmark")
        students = [replace(graded.result, student=f"s{number:03}") for number in range(_PAGES[-1])]
        keeping = _least(lambda: gradebook.add(run, students[0]))
        for last, count in pairwise(_PAGES):
            for student in students[last:count]:
                gradebook.add(run, student)
                gradebook.settings.note_hand_in(student.student, HandIn((Person(student.student),)))
            began = time.process_time()
            write_files(gradebook, out)
            spent.append(time.process_time() - began)
    return keeping, (spent[-1] - spent[-2]) / (_PAGES[-1] - _PAGES[-2])


async def _nothing(run: str, key: str, lost: list[str], words: bytes, content: bytes, answer: bytes) -> bytes:
    """All that a task does but grade."""
    scheduler = get_worker().scheduler
    await scheduler.events(topic=key)
    await scheduler.log_event(topic=[key, run], msg={"begun": key, "name": "w", "worker": get_worker().address})
    return answer


@contextmanager
def _cluster(folder: Path) -> Iterator[tuple[Client, psutil.Process, psutil.Process]]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    dask, quiet = [sys.executable, "-m", "dask"], subprocess.DEVNULL
    place = folder / "scheduler.json"
    options: dict[str, Any] = {"env": environment, "cwd": folder, "stdout": quiet, "stderr": quiet}
    file = ["--scheduler-file", str(place)]
    scheduler = subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *file], **options)
    worker = subprocess.Popen([*dask, "worker", "--no-nanny", "--nthreads", "1", *file], **options)
    try:
        while not place.exists():
            time.sleep(0.1)
        with Client(scheduler_file=str(place), set_as_default=False) as client:
            client.wait_for_workers(1)
            yield client, psutil.Process(scheduler.pid), psutil.Process(worker.pid)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def _empty_tasks(folder: Path, count: int, words: bytes, content: bytes, answer: bytes) -> tuple[float, float, float]:
    """Processor time of each task, by process: the writer, the scheduler, the worker."""
    with _cluster(folder) as (client, scheduler, worker):
        done: SimpleQueue[Any] = SimpleQueue()
        client.subscribe_topic("run", lambda event: None)
        keys = iter(range(10 * count))

        def give() -> None:
            key = f"run-{next(keys)}"
            future = client.submit(_nothing, "run", key, [], words, content, answer, key=key, pure=False)
            future.add_done_callback(lambda future: done.put((future, future.result())))

        def through(times: int) -> None:
            for _ in range(IN_FLIGHT):
                give()
            for number in range(times):
                future, got = done.get()
                assert got == answer
                future.release()
                if number < times - IN_FLIGHT:
                    give()

        through(20)  # warm
        processes = (psutil.Process(), scheduler, worker)
        before = [sum(process.cpu_times()[:2]) for process in processes]
        began = time.perf_counter()
        through(count)
        print(
            f"{count} empty tasks, one worker: {1000 * (time.perf_counter() - began) / count:.1f} ms each on the wall"
        )
        after = [sum(process.cpu_times()[:2]) for process in processes]
        writer, of_scheduler, of_worker = ((now - then) / count for then, now in zip(before, after, strict=True))
        return writer, of_scheduler, of_worker


# Many workers.


def simulation(costs: Costs) -> None:
    print(f"{STUDENTS:,} submissions, simulated:")
    alone = Played(costs, 1)
    limit = ""
    for workers in WORKERS:
        played = Played(costs, workers)
        share = alone.seconds / workers / played.seconds
        busy = ", ".join(f"{name} {100 * part:.0f} %" for name, part in played.busy().items())
        pages = f"{played.pages / 60:.1f} min of it pages"
        print(f"  {workers:4} workers {played.seconds / 60:7.1f} min ({pages}), {share:4.0%} of linear; busy: {busy}")
        if share < STILL_LINEAR and not limit:
            name = max(played.losses(), key=played.losses().__getitem__)
            limit = f"below {STILL_LINEAR:.0%} of linear from {workers} workers on, most of it through {name}"
    each = {"the writer": Played.writer_seconds(costs), "the scheduler": costs.scheduler}
    slowest = max(each, key=each.__getitem__)
    most = (costs.grading + costs.worker_dask) / each[slowest]
    print(f"{limit or 'linear throughout'}; {slowest} alone would be enough for {most:.0f} workers")


class Played:
    """One batch: a writer, a scheduler and a network that do one thing at a time, and workers behind them."""

    def __init__(self, costs: Costs, workers: int) -> None:
        self._costs, self._workers = costs, workers
        transfer = (costs.sent_bytes + costs.answer_bytes) / BYTES_PER_SECOND  # in and out of the scheduler
        give, take = costs.packing + costs.writer_dask / 2, costs.unpacking + costs.keeping + costs.writer_dask / 2
        # Who does how much of each task, in this order.
        stages = (
            ("writer", give),
            ("scheduler", costs.scheduler / 2),
            ("network", transfer),
            ("worker", costs.grading + costs.worker_dask),
            ("network", transfer),
            ("scheduler", costs.scheduler / 2),
            ("writer", take),
        )
        self.begin = costs.start + workers * costs.rubric_bytes / BYTES_PER_SECOND
        free = {name: [0.0] * (workers if name == "worker" else 1) for name, _ in stages}
        waiting = [(0.0, number, 0) for number in range(min(STUDENTS, IN_FLIGHT * workers))]
        given, self.running = len(waiting), 0.0
        while waiting:
            moment, number, stage = heapq.heappop(waiting)
            name, seconds = stages[stage]
            end = max(moment, heapq.heappop(free[name])) + seconds
            heapq.heappush(free[name], end)
            if stage + 1 < len(stages):
                heapq.heappush(waiting, (end, number, stage + 1))
            else:
                self.running = max(self.running, end)
                if given < STUDENTS:
                    heapq.heappush(waiting, (end, given, 0))
                    given += 1
        self._used = {name: sum(seconds for one, seconds in stages if one == name) for name in free}
        self.pages = STUDENTS * costs.page
        self.seconds = self.begin + self.running + self.pages

    @staticmethod
    def writer_seconds(costs: Costs) -> float:
        return costs.packing + costs.writer_dask + costs.unpacking + costs.keeping

    def busy(self) -> dict[str, float]:
        """Which share of the time each is at work, while the class is graded."""
        count = {"worker": self._workers}
        return {name: STUDENTS * each / count.get(name, 1) / self.running for name, each in self._used.items()}

    def losses(self) -> dict[str, float]:
        """Seconds that are no worker's: by cause."""
        ideal = STUDENTS * self._used["worker"] / self._workers
        serial = {name: STUDENTS * each for name, each in self._used.items() if name != "worker"}
        slowest = max(serial, key=serial.__getitem__)
        return {
            "the pages, which one process writes at the end": self.pages,
            "the start of workers": self.begin,
            f"the {slowest}, which is one process": self.running - ideal,
        }


if __name__ == "__main__":
    main()
