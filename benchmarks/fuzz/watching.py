"""Inputs put through readers in processes of their own: what takes too long is killed, and what dies is noticed."""

from __future__ import annotations

import multiprocessing
import os
import resource
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from random import Random
from typing import Any, Literal

from benchmarks.fuzz.endings import get_ready
from benchmarks.fuzz.kinds import KINDS, Kind

HANG_SECONDS = 10.0  # of processor time for one input: others may use the machine, too
STALL_SECONDS = 60.0  # of any time, for what sleeps or waits
_LOOK_SECONDS = 0.5
_CHUNK = 200  # inputs between two words with the parent
_MEMORY_BYTES = 4 * 2**30  # far above what an input of a quarter megabyte may take
_FORK = multiprocessing.get_context("fork")  # a process that was killed is replaced in milliseconds

Sort = Literal["traceback", "hang", "death"]


@dataclass(frozen=True)
class Failure:
    kind: str
    seed: int
    index: int
    sort: Sort
    cause: str  # one line, the same for all of one cause

    @property
    def replay(self) -> str:
        return f"{self.kind}:{self.seed}:{self.index}"


@dataclass
class Tally:
    """What became of the inputs of one kind."""

    read: int = 0
    refused: int = 0
    seconds: float = 0.0  # of processor time, as all of them
    slowest: float = 0.0
    slowest_index: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        return self.read + self.refused + len(self.failures)

    def failed(self, sort: Sort) -> int:
        return sum(failure.sort == sort for failure in self.failures)


def made(kind: Kind, seed: int, index: int) -> Any:
    """The input of this number: it follows from nothing else."""
    return kind.make(Random(f"{kind.name}:{seed}:{index}"))


@dataclass(frozen=True)
class _Chunk:
    kind: str
    start: int
    stop: int


class _Notes:
    """What a process is doing, where its parent sees it even when the process is gone."""

    def __init__(self) -> None:
        self._shared = _FORK.RawArray("d", 8)

    def begin(self, index: int) -> None:
        self._shared[:3] = index, time.process_time(), time.monotonic()

    def clear(self) -> None:
        self._shared[1:] = [0.0] * 7

    def end(self, was_read: bool, was_refused: bool) -> None:
        index, spent = self._shared[0], time.process_time() - self._shared[1]
        self._shared[2] = 0.0
        self._shared[3] += was_read
        self._shared[4] += was_refused
        self._shared[5] += spent
        if spent > self._shared[6]:
            self._shared[6:] = spent, index

    @property
    def index(self) -> int:
        return int(self._shared[0])

    def is_hung(self, process: int) -> bool:
        began_working, began = self._shared[1:3]
        if not began:
            return False
        clock = (~process << 3) | 2  # the kernel's MAKE_PROCESS_CPUCLOCK(process, CPUCLOCK_SCHED)
        try:
            working = time.clock_gettime(clock) - began_working
        except OSError:  # it is gone, and its line will say so
            return False
        return working > HANG_SECONDS or time.monotonic() - began > STALL_SECONDS

    def add_to(self, tally: Tally) -> None:
        _, _, _, was_read, was_refused, seconds, slowest, slowest_index = self._shared
        tally.read += int(was_read)
        tally.refused += int(was_refused)
        tally.seconds += seconds
        if slowest > tally.slowest:
            tally.slowest, tally.slowest_index = slowest, int(slowest_index)


def _work(line: Connection, parents: Connection, notes: _Notes, seed: int, folder: Path) -> None:
    """In the child: chunk after chunk, until it is killed. Failures are told at once, the rest stands in the notes."""
    parents.close()  # or it would not be noticed that the parent is gone
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    while True:
        try:
            chunk = line.recv()
        except EOFError:
            return
        notes.clear()
        kind = KINDS[chunk.kind]
        for index in range(chunk.start, chunk.stop):
            notes.begin(index)
            was_read = was_refused = False
            try:
                was_read = kind.read(made(kind, seed, index), folder)
                was_refused = not was_read
            except BaseException as error:
                line.send(Failure(kind.name, seed, index, "traceback", _cause(error)))
            notes.end(was_read, was_refused)
        line.send(None)


def _cause(error: BaseException) -> str:
    """What was raised, and the last place of ours where it passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/grader/" in frame.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    told = " ".join(str(error).split())[:120]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {told}"


class _Worker:
    """One child at a time, replaced when it is gone."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._seed = seed
        self._folder = folder
        self._notes = _Notes()
        self.chunk: _Chunk | None = None
        self._start()

    def _start(self) -> None:
        self.line, theirs = _FORK.Pipe()
        self._folder.mkdir(exist_ok=True)
        given = (theirs, self.line, self._notes, self._seed, self._folder)
        self._child = _FORK.Process(target=_work, args=given, daemon=True)
        self._child.start()
        theirs.close()

    def give(self, chunk: _Chunk) -> None:
        self.chunk = chunk
        self.line.send(chunk)

    def hear(self, tallies: dict[str, Tally]) -> _Chunk | None:
        """Take what it says; what is left of its chunk, if it is gone."""
        assert self.chunk is not None
        try:
            while self.line.poll():
                said = self.line.recv()
                if said is None:
                    self._notes.add_to(tallies[self.chunk.kind])
                    self.chunk = None
                    return None
                tallies[said.kind].failures.append(said)
        except (EOFError, ConnectionResetError):
            return self._replace(tallies, "death", "")
        if self._notes.is_hung(self._child.pid):
            return self._replace(tallies, "hang", f"not done after {HANG_SECONDS:.0f} s")
        return None

    def _replace(self, tallies: dict[str, Tally], sort: Sort, cause: str) -> _Chunk:
        assert self.chunk is not None
        kind, index = self.chunk.kind, self._notes.index
        self._child.kill()
        self._child.join()
        cause = cause or f"the process ended with {self._child.exitcode}"
        self._notes.add_to(tallies[kind])
        tallies[kind].failures.append(Failure(kind, self._seed, index, sort, cause))
        rest = _Chunk(kind, index + 1, self.chunk.stop)
        self.chunk = None
        self._notes.clear()
        self.line.close()
        self._start()
        return rest

    def end(self) -> None:
        self._child.kill()
        self._child.join()


def fuzz(
    counts: dict[str, int], seed: int, jobs: int, told: Callable[[dict[str, Tally]], None] = lambda _: None
) -> dict[str, Tally]:
    """What became of so many inputs of each kind. `told` hears of it now and then."""
    for kind in counts:
        made(KINDS[kind], seed, 0)  # the material is read once, and not by every process
    get_ready()
    tallies = {kind: Tally() for kind in counts}
    waiting = deque(_chunks(counts))
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory if memory.is_dir() else None) as temporary:
        workers = [_Worker(seed, Path(temporary) / str(number)) for number in range(jobs)]
        try:
            while waiting or any(worker.chunk for worker in workers):
                for worker in workers:
                    if worker.chunk is None and waiting:
                        worker.give(waiting.popleft())
                busy: Sequence[_Worker] = [worker for worker in workers if worker.chunk]
                wait([worker.line for worker in busy], _LOOK_SECONDS)
                for worker in busy:
                    rest = worker.hear(tallies)
                    if rest is not None and rest.start < rest.stop:
                        waiting.appendleft(rest)
                told(tallies)
        finally:
            for worker in workers:
                worker.end()
    for tally in tallies.values():
        tally.failures.sort(key=lambda failure: failure.index)
    return tallies


def _chunks(counts: dict[str, int]) -> Iterator[_Chunk]:
    for kind, count in counts.items():
        for start in range(0, count, _CHUNK):
            yield _Chunk(kind, start, min(start + _CHUNK, count))
