"""Where the processor time of one submission goes in `grader batch`: job, fork servers, sandboxes, gradebook,
page; how much of each the kernel takes; and what the student's code takes by itself.

    python -m benchmarks.where_time_goes                # dl-hw3 2.1 and 2.2 of ada, forty times
    python -m benchmarks.where_time_goes --count 20

Processor time of each process, kernel included, as lower quartiles: what else runs on the machine makes single figures
larger, never smaller. The kernel's share is that of all submissions together, since it counts in ticks. The student's
code by itself is what `throughput` calls bare: its files and all calls, again and again in a process that is warm.
"""

from __future__ import annotations

import argparse
import os
import pickle
import resource
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.throughput import BARE_SECONDS, RUBRIC, bare_rounds, class_of
from grader.batch.files import write_files
from grader.batch.finding import find_submissions
from grader.batch.gradebook import Gradebook, Run
from grader.batch.grading import Graded, Grading, Plan
from grader.grading.randomness import Draw
from grader.sandbox.host import fork_server

PROBLEMS = ("2.1", "2.2")
WARM = 4  # submissions that are graded before any is measured
_A_BOX_ENDS_IN = 0.5  # seconds, on a busy machine

_ended: list[float] = []  # processor seconds of sandboxes
_receive = fork_server.ForkServer._receive


def _receive_and_note(self: fork_server.ForkServer) -> tuple[dict[str, Any], list[int]]:
    message, received = _receive(self)
    if "ended" in message:
        _ended.append(message["cpu_seconds"])
    return message, received


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    count = parser.parse_args().count
    setattr(fork_server.ForkServer, "_receive", _receive_and_note)  # noqa: B010 - mypy lets no method be replaced
    with tempfile.TemporaryDirectory(prefix="where-time-goes-") as temporary:
        folder = Path(temporary)
        by_itself = bare_rounds(PROBLEMS, 1, BARE_SECONDS)
        _keep(folder, _grade(folder, count))
        _show("the student's code by itself", by_itself)
    print(f"beside other work: load {os.getloadavg()[0]:.0f}")


def _grade(folder: Path, count: int) -> list[Graded]:
    found = find_submissions(class_of(folder / "class", WARM + count), folder)
    own, servers, results = [], [], list[Graded]()
    plan = Plan(RUBRIC, None, PROBLEMS, Draw(0, None), False)
    with Grading(plan) as grading:
        for handed_in in found.submissions[:WARM]:
            grading.grade_one(handed_in, None)
        time.sleep(_A_BOX_ENDS_IN)
        processes = processes_below(os.getpid())
        _ended.clear()
        share_of_job, share_of_servers, share_of_boxes = (
            _Share(_own),
            _Share(_of(processes)),
            _Share(_below_of(processes)),
        )
        for handed_in in found.submissions[WARM:]:
            began, before = time.process_time(), sum(map(_spent, processes))
            results.append(grading.grade_one(handed_in, None))
            own.append(time.process_time() - began)
            servers.append(sum(map(_spent, processes)) - before)
        time.sleep(_A_BOX_ENDS_IN)
        shares = [share.of_the_kernel() for share in (share_of_job, share_of_servers, share_of_boxes)]
    _show("the job's process", own, shares[0])
    _show("its fork servers", servers, shares[1])
    _show("one sandbox", _ended, shares[2])
    mean = 1000 * sum(_ended) / count
    print(f"{'sandboxes of one submission':30} {mean:6.2f} ms, the mean of {len(_ended) / count:.2f} boxes")
    return results


def _keep(folder: Path, results: list[Graded]) -> None:
    kept, pages = [], [0.0]
    with Gradebook(folder / "out", new=True) as gradebook:
        run, share = gradebook.begin_run(Run("", None, 0, PROBLEMS, ""), "dl-hw3", "0"), _Share(_own)
        for graded in results:
            began = time.process_time()
            handed_over: Graded = pickle.loads(pickle.dumps(graded))  # as it comes from a job
            assert handed_over.result is not None
            gradebook.add(run, handed_over.result)
            kept.append(time.process_time() - began)
        _show("the gradebook", kept, share.of_the_kernel())
        share = _Share(_own)
        write_files(gradebook, folder / "out", lambda: pages.append(time.process_time()))
    _show(
        "page and JSON of a student", [after - before for before, after in pairwise(pages[1:])], share.of_the_kernel()
    )


class _Spent(NamedTuple):
    """Any unit: only shares are taken of it."""

    user: float
    kernel: float


class _Share:
    """Of what is spent from here on, how much by the kernel."""

    def __init__(self, spent: Callable[[], _Spent]) -> None:
        self._look, self._began = spent, spent()

    def of_the_kernel(self) -> float:
        now = self._look()
        kernel, user = now.kernel - self._began.kernel, now.user - self._began.user
        return kernel / (kernel + user) if kernel + user else 0.0


def _own() -> _Spent:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return _Spent(used.ru_utime, used.ru_stime)


def _of(processes: list[int]) -> Callable[[], _Spent]:
    return lambda: _ticks(processes, 11)


def _below_of(processes: list[int]) -> Callable[[], _Spent]:
    """Of their children that have ended and been waited for."""
    return lambda: _ticks(processes, 13)


def _ticks(processes: list[int], first: int) -> _Spent:
    user = kernel = 0
    for process in processes:
        with suppress(OSError):  # it has ended
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            user, kernel = user + int(fields[first]), kernel + int(fields[first + 1])
    return _Spent(user, kernel)


def processes_below(process: int) -> list[int]:
    """Processes that any of its threads started, and those that these did."""
    listed: list[str] = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has ended
            listed += thread.read_text().split()
    return [one for child in map(int, listed) for one in (child, *processes_below(child))]


def _spent(process: int) -> float:
    with suppress(OSError):  # it has ended
        return time.clock_gettime((~process << 3) | 2)  # the clock of that process's processor time
    return 0.0


def _show(what: str, seconds: list[float], kernel: float | None = None) -> None:
    ordered = sorted(1000 * one for one in seconds)
    share = "" if kernel is None else f", {kernel:.0%} of it the kernel's"
    print(f"{what:30} {ordered[len(ordered) // 4]:6.2f} ms, median {ordered[len(ordered) // 2]:.2f}{share}")


if __name__ == "__main__":
    main()
