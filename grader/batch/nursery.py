"""Where jobs come from: a process that reads the rubric and loads what grades by it, once, and is forked for each job.

That takes 0.6 s of a core, which every job needed for itself, and the grader once more. The process is spawned, so that
it and its jobs hold none of the grader's files: when the grader is killed, all of them hear it at once. Little is
imported above, because what is loaded later goes by what is set first.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import select
import signal
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from multiprocessing.reduction import recv_handle, send_handle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.batch.grading import Plan

_FAREWELL_SECONDS = 10
# A job has one core; and what has no threads can be forked.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_spawn, _fork = multiprocessing.get_context("spawn"), multiprocessing.get_context("fork")


def _tend(line: Connection, pickled: bytes) -> None:
    """What the process does: say what the rubric is called, then fork a job for each connection that it is given."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the grader decides what ends
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    gc.disable()  # nothing that is loaded is garbage, and looking for some takes a tenth of the time
    from grader.batch.grading import prepared
    from grader.batch.jobs import work

    plan = pickle.loads(pickled)
    try:
        ready = prepared(plan)
    except Exception:  # a job reads the rubric again, and says what is wrong
        ready = None
    gc.freeze()  # so that no job looks through it, which would copy it
    gc.enable()
    with contextlib.suppress(EOFError, OSError):
        line.send(ready.rubric.name if ready else "")
        while True:
            given = line.recv()
            with Connection(recv_handle(line)) as theirs:
                job = _fork.Process(target=_leave_and_work, args=(line, work, theirs, plan, ready, *given))
                job.start()
            handle = os.pidfd_open(job.pid or 0)  # nobody else can have its number: it has not been waited for
            send_handle(line, handle, None)
            os.close(handle)


def _leave_and_work(line: Connection, work: Callable[..., None], *given: object) -> None:
    line.close()
    work(*given)


class JobProcess:
    """A job as the grader sees it, which is not its parent."""

    def __init__(self, nursery: Nursery) -> None:
        self._nursery = nursery
        self._handle: int | None = None

    def came(self, handle: int) -> None:
        self._handle = handle

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def ended(self, seconds: float | None = None) -> bool:
        """Wait for it, so long at most."""
        handle = self._known()
        return handle is None or bool(select.select([handle], [], [], seconds)[0])

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _send(self, what: signal.Signals) -> None:
        handle = self._known()
        if handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, what)

    def _known(self) -> int | None:
        """None for one that never came to be."""
        if self._handle is None:
            self._nursery.wait_for(self)
        return self._handle


class Nursery:
    """Begins when it is first asked for anything; and again, if it is gone."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None
        self._rubric: str | None = None  # its name; empty if it cannot be read
        self._awaited: deque[JobProcess] = deque()  # of this process, by the order of asking

    def rubric_name(self) -> str:
        """As soon as it is read; empty if it cannot be read there."""
        self._begun()
        return self._said()

    def job(self, *given: object) -> tuple[Connection, JobProcess]:
        """A new one, which is `given` this, and the line to it, at once: it begins when the rubric is read. If the
        process ends before that, so does the line."""
        line, theirs = _spawn.Pipe()
        job = JobProcess(self)
        with theirs:
            try:
                self._ask_for(theirs, given)
            except OSError:  # it is ending: so it is not there, although it does not look like that yet
                self._end()
                with contextlib.suppress(OSError):
                    self._ask_for(theirs, given)
        self._awaited.append(job)
        return line, job

    def _ask_for(self, theirs: Connection, given: tuple[object, ...]) -> None:
        control = self._begun()
        control.send(given)
        send_handle(control, theirs.fileno(), None)

    def wait_for(self, job: JobProcess) -> None:
        """Until it is known how to reach it, or that it will never be. Whoever asks wants it to end: where reading the
        rubric takes too long for that, it is ended next, and what it begins until then finds its line closed."""
        while job in self._awaited and self._line is not None:
            try:
                if not self._line.poll(_FAREWELL_SECONDS):
                    raise EOFError
                if self._rubric is None:
                    self._said()
                else:
                    self._awaited[0].came(recv_handle(self._line))
                    self._awaited.popleft()
            except (EOFError, OSError, RuntimeError):  # the last is how a handle says that it will not come
                self._awaited.clear()

    def close(self) -> None:
        if self._process is not None and self._line is not None:
            self._line.close()
            self._process.terminate()
            self._process.join(_FAREWELL_SECONDS)
            self._process = self._line = None

    def _end(self) -> None:
        """What it said before it ended is not lost."""
        for job in [*self._awaited]:
            self.wait_for(job)
        self.close()

    def _begun(self) -> Connection:
        if self._process is not None and not self._process.is_alive():
            self._end()
        if self._line is None:
            self._line, theirs = _spawn.Pipe()
            self._rubric = None
            self._process = _spawn.Process(target=_tend, args=(theirs, pickle.dumps(self._plan)))
            self._process.start()
            theirs.close()
        return self._line

    def _said(self) -> str:
        if self._rubric is None and self._line is not None:
            try:
                self._rubric = self._line.recv()
            except (EOFError, OSError):
                self._rubric = ""
        return self._rubric or ""
