"""Jobs: processes that grade, each with its own fork server. One that dies is replaced, its work given out again."""

from __future__ import annotations

import contextlib
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING

from grader.batch.finding import HandedIn
from grader.batch.gradebook import Result
from grader.batch.grading import Graded, Grading, Plan, Prepared
from grader.batch.nursery import Nursery
from grader.batch.pace import Pace
from grader.errors import StaffFault

if TYPE_CHECKING:
    from grader.batch.files import StudentFiles  # loads what draws pages: jobs do that when they are to draw some

_ATTEMPTS = 3  # two jobs can be lost to somebody's `kill`; a third would be the submission's own doing
_FAREWELL_SECONDS = 10
_MANY_WAIT = 8  # for each job: then it has the next at hand, and waits for nobody; later none waits behind a slow one
_PAGES_AT_ONCE = 16  # of students, for a job to write: each handing over wakes two processes


class JobsFault(StaffFault):
    """No job lives long enough to say anything."""


class Interrupted(StaffFault):
    """Nobody is left to grade; what was graded is kept, and the batch can be resumed."""


@dataclass(frozen=True)
class _Refused:
    """No job can grade here; the same would happen to all."""

    fault: StaffFault


def work(line: Connection, plan: Plan, ready: Prepared | None, workspace: str) -> None:
    """What a job does: grade what it is given until its connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what ends
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    tempfile.tempdir = workspace  # so that the parent can clear up behind a job that was killed
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            with Grading(plan, ready) as grading:
                while True:
                    match line.recv():
                        case (HandedIn() as handed_in, stored):
                            line.send(grading.grade_one(handed_in, stored))
                        case (HandedIn() as handed_in, stored, str(cause)):
                            line.send(grading.given_up(handed_in, cause))
                        case several:  # files of students whose work is graded
                            for files in several:
                                files.write()
                            line.send(None)
        except StaffFault as fault:
            line.send(_Refused(fault))


class _Job:
    def __init__(self, nursery: Nursery, workspace: Path) -> None:
        self.line, self.process = nursery.job(str(workspace))
        self.tasks: deque[HandedIn] = deque()  # the one that it grades, and the next
        self.began_at = 0.0

    def close(self) -> None:
        self.line.close()
        self.process.terminate()
        if not self.process.ended(_FAREWELL_SECONDS):
            self.process.kill()
            self.process.ended()
        self.process.close()


class Jobs:
    """`count` processes, started at once and ended with the block."""

    notes = ()  # for staff, about who grades

    def __init__(self, plan: Plan, count: int, workspace: Path) -> None:
        """Whoever starts jobs clears up in their `workspace`, since a job may be killed."""
        self._nursery = Nursery(plan)
        self._begin = partial(_Job, self._nursery, workspace)
        self.pace = Pace(count)
        self._jobs = [self._begin() for _ in range(count)]

    def rubric_name(self) -> str:
        """As jobs read it; empty if they cannot."""
        return self._nursery.rubric_name()

    @property
    def at_work(self) -> tuple[str, ...]:
        """The students whose work is being graded."""
        return tuple(job.tasks[0].student for job in self._jobs if job.tasks)

    def grade(
        self,
        waiting: Iterable[HandedIn],
        stored: Callable[[str], Result | None],
        begun: Callable[[], None] = lambda: None,
    ) -> Iterator[Graded]:
        """Every submission's result, as they come. `stored` says what the gradebook has of a student; `begun` is called
        when every job has its first one."""
        queue, lost = deque(waiting), dict[HandedIn, int]()
        for job in self._jobs:
            if queue:
                self._give(job, queue.popleft(), stored, lost)
        begun()
        while queue or any(job.tasks for job in self._jobs):
            for job in self._jobs:
                # One that took the place of one that died has none; others may have another at hand.
                while queue and len(job.tasks) < (2 if len(queue) > _MANY_WAIT * len(self._jobs) else 1):
                    self._give(job, queue.popleft(), stored, lost)
            busy = {job.line: job for job in self._jobs if job.tasks}
            for line in wait(list(busy)):
                assert isinstance(line, Connection)
                job = busy[line]
                try:
                    answer = line.recv()
                except (EOFError, OSError):
                    lost[job.tasks[0]] = lost.get(job.tasks[0], 0) + 1
                    if lost[job.tasks[0]] > 2 * _ATTEMPTS:  # this job could not even say that it gave up
                        raise JobsFault("jobs end as soon as they begin, so nothing can be graded here") from None
                    queue.extendleft(reversed(job.tasks))
                    self._replace(job)
                    continue
                if isinstance(answer, _Refused):
                    raise answer.fault
                now = time.monotonic()
                if answer.result is not None and answer.result.how == "graded":
                    self.pace.count(now - job.began_at)
                job.tasks.popleft()
                job.began_at = now
                if queue and not job.tasks:  # before the answer is kept: no job waits for the disk
                    self._give(job, queue.popleft(), stored, lost)
                yield answer

    def write(self, several: Iterable[StudentFiles]) -> Iterator[None]:
        """When all are graded: write students' files side by side, as jobs are free."""
        writing: dict[Connection, list[StudentFiles]] = {}
        free = deque(job.line for job in self._jobs)
        waiting = iter(several)
        while some := list(islice(waiting, _PAGES_AT_ONCE)):
            line = free.popleft()
            writing[line] = some
            with contextlib.suppress(OSError):  # it is gone: waiting for its answer says so
                line.send(some)
            if not free:
                yield from self._written(writing, free)
        while writing:
            yield from self._written(writing, free)

    def _written(self, writing: dict[Connection, list[StudentFiles]], free: deque[Connection]) -> Iterator[None]:
        """Wait until somebody has done it. What a job had that ended is written here."""
        for line in wait(list(writing)):
            assert isinstance(line, Connection)
            some = writing.pop(line)
            try:
                answer = line.recv()
            except (EOFError, OSError):
                answer = None
                for files in some:
                    files.write()
            if isinstance(answer, _Refused):
                raise answer.fault
            free.append(line)
            yield from (None for _ in some)

    def _give(
        self, job: _Job, task: HandedIn, stored: Callable[[str], Result | None], lost: dict[HandedIn, int]
    ) -> None:
        known = stored(task.student)
        job.tasks.append(task)
        if len(job.tasks) == 1:
            job.began_at = time.monotonic()
        with contextlib.suppress(OSError):  # it is gone: waiting for its answer says so
            if lost.get(task, 0) >= _ATTEMPTS:
                job.line.send((task, known, f"{_ATTEMPTS} processes ended while they graded it"))
            else:
                job.line.send((task, known))

    def _replace(self, job: _Job) -> None:
        job.close()
        self._jobs[self._jobs.index(job)] = self._begin()

    def __enter__(self) -> Jobs:
        return self

    def __exit__(self, *exception: object) -> None:
        for job in self._jobs:
            job.line.close()  # all at once, so that they end side by side
        for job in self._jobs:
            job.close()
        self._nursery.close()
