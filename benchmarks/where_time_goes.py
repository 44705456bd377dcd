"""Where the processor time of one submission goes in `grader batch`: job, fork server, boxes, gradebook, page; and,
inside a box, each kind of question.

    python -m benchmarks.where_time_goes                # dl-hw3 2.1 and 2.2 of ada, forty times
    python -m benchmarks.where_time_goes --count 20

Processor time of each process, kernel included, as lower quartiles: what else runs on the machine makes single figures
larger, never smaller. The questions of a box are played again in forks of a warm process without a jail; pages of
memory that a fork copies are counted with the question that touches them first.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import pickle
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.throughput import MODEL, RUBRIC, class_of
from grader.batch.files import write_files
from grader.batch.finding import find_submissions
from grader.batch.gradebook import Gradebook, Run
from grader.batch.grading import Graded, Grading, Plan
from grader.draw import Draw
from grader.sandbox import channel, fork_server, reader, rehearsed_code
from grader.sandbox.inside import rehearsal, wire, worker
from grader.submission import room_in_memory

PROBLEMS = ("2.1", "2.2")
WARM = 4  # submissions that are graded before any is measured
ROUNDS = 30
_A_BOX_ENDS_IN = 0.5  # seconds, on a busy machine

_ended: list[float] = []  # processor seconds of boxes
_asked: list[bytes] = []
_readers: set[int] = set()  # boxes in which code is read, for many submissions
_receive, _ask_each, _opened = fork_server.ForkServer._receive, channel.Channel.ask_each, reader.opened


def _receive_and_note(self: fork_server.ForkServer) -> tuple[dict[str, Any], list[int]]:
    message, received = _receive(self)
    if "ended" in message and message["ended"] not in _readers:
        _ended.append(message["cpu_seconds"])
    return message, received


def _open_and_note(server: fork_server.ForkServer, request: dict[str, Any], *given: Any) -> Any:
    _readers.add(request["id"])
    return _opened(server, request, *given)


def _ask_and_note(self: channel.Channel, question: channel.Question, *given: Any) -> Iterator[Any]:
    _asked.append(question.frame)
    return _ask_each(self, question, *given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    count = parser.parse_args().count
    setattr(fork_server.ForkServer, "_receive", _receive_and_note)  # noqa: B010 - mypy lets no method be replaced
    setattr(channel.Channel, "ask_each", _ask_and_note)  # noqa: B010 - the same
    setattr(reader, "opened", _open_and_note)  # noqa: B010 - the same
    with tempfile.TemporaryDirectory(prefix="where-time-goes-") as temporary:
        folder = Path(temporary)
        results = _grade(folder, count)
        _keep(folder, results)
        print(f"beside other work: load {os.getloadavg()[0]:.0f}")
        _replay(folder)


def _grade(folder: Path, count: int) -> list[Graded]:
    found = find_submissions(class_of(folder / "class", WARM + count), folder)
    own, servers, results, one_box = [], [], list[Graded](), list[bytes]()
    plan = Plan(RUBRIC, None, PROBLEMS, Draw(0, None), False)
    with room_in_memory() as memory, Grading(plan, memory) as grading:
        for handed_in in found.submissions[:WARM]:
            grading.grade_one(handed_in, None)
        time.sleep(_A_BOX_ENDS_IN)
        processes = _below(os.getpid())
        _ended.clear()
        for handed_in in found.submissions[WARM:]:
            _asked.clear()
            began, before, boxes = time.process_time(), sum(map(_spent, processes)), len(_ended)
            results.append(grading.grade_one(handed_in, None))
            own.append(time.process_time() - began)
            servers.append(sum(map(_spent, processes)) - before)
            one_box = list(_asked) if len(_ended) - boxes <= 1 else one_box
        time.sleep(_A_BOX_ENDS_IN)
    (folder / "asked").write_bytes(pickle.dumps(one_box))
    _show("the job's process", own)
    _show("its fork servers and reader", servers)
    _show("one box", _ended)
    mean = 1000 * sum(_ended) / count
    print(f"{'boxes of one submission':30} {mean:6.2f} ms, the mean of {len(_ended) / count:.2f} boxes")
    return results


def _keep(folder: Path, results: list[Graded]) -> None:
    kept, pages = [], [0.0]
    with Gradebook(folder / "out", new=True) as gradebook:
        run = gradebook.begin_run(Run("", None, 0, PROBLEMS, ""), "dl-hw3", "0")
        for graded in results:
            began = time.process_time()
            handed_over: Graded = pickle.loads(pickle.dumps(graded))  # as it comes from a job
            assert handed_over.result is not None
            gradebook.add(run, handed_over.result)
            kept.append(time.process_time() - began)
        write_files(gradebook, folder / "out", lambda: pages.append(time.process_time()))
    _show("the gradebook", kept)
    _show("page and JSON of a student", [after - before for before, after in pairwise(pages[1:])])


def _replay(folder: Path) -> None:
    """The questions of the last box that was alone, in forks of this process."""
    home, rehearsed = folder / "home", folder / "rehearsed"
    shutil.copytree(MODEL, home)
    rehearsed.mkdir()
    for name, text in rehearsed_code.FILES.items():
        (rehearsed / name).write_text(text)
    rehearsal.rehearse(str(rehearsed))
    frames: list[bytes] = pickle.loads((folder / "asked").read_bytes())
    gc.collect()
    gc.freeze()
    rounds = [_in_a_fork(home, frames) for _ in range(ROUNDS)]
    for what in rounds[0]:
        _show(f"in a box: {what}", [one[what] for one in rounds])


def _in_a_fork(home: Path, frames: list[bytes]) -> dict[str, float]:
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.chdir(home)
        nowhere, spent = os.open(os.devnull, os.O_WRONLY), dict[str, float]()
        for frame in frames:
            (home.parent / "frame").write_bytes(frame)
            source = os.open(home.parent / "frame", os.O_RDONLY)
            began = time.process_time()
            question = wire.read_question(source)
            what, read = question["probe"], time.process_time()
            worker.respond(nowhere, question)
            spent["reading questions"] = spent.get("reading questions", 0.0) + read - began
            spent[what] = spent.get(what, 0.0) + time.process_time() - read
            os.close(source)
        os.write(writing, json.dumps(spent).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        measured: dict[str, float] = json.load(file)
    os.waitpid(child, 0)
    return measured


def _below(process: int) -> list[int]:
    """Processes that it started, and those that these did."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [one for child in map(int, listed) for one in (child, *_below(child))]


def _spent(process: int) -> float:
    with suppress(OSError):  # it has ended, a reader that has read enough
        return time.clock_gettime((~process << 3) | 2)  # the clock of that process's processor time
    return 0.0


def _show(what: str, seconds: list[float]) -> None:
    ordered = sorted(1000 * one for one in seconds)
    print(f"{what:30} {ordered[len(ordered) // 4]:6.2f} ms, median {ordered[len(ordered) // 2]:.2f}")


if __name__ == "__main__":
    main()
