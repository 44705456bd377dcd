"""The channel to a forked box: questions out, answers in, its output drained, its time watched."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.errors import Crashed, StudentFault
from grader.model import Limits
from grader.sandbox.box import wire
from grader.sandbox.host import fault_messages
from grader.sandbox.host.fault_messages import Asked
from grader.sandbox.host.fork_server import ForkServer
from grader.sandbox.host.scratch import exceeds, remove

_READ_BYTES = 1 << 16  # larger ones have the kernel make and clear new pages for every read
_KEPT_OUTPUT_BYTES = 1 << 16
_JAIL_SECONDS = 60
_WATCH_SECONDS = 0.1
# A machine has some 30,000 process ids for all. A box can start about 3,000 threads between two looks, and no more.
_MAX_THREADS = 256


class _OverLimit(Exception):
    """A limit was reached; `fault` says which, in words for the student."""

    def __init__(self, fault: StudentFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class _Process:
    """A box's process as seen from outside."""

    def __init__(self, watch: int) -> None:
        self._watch = watch

    @cached_property
    def _id(self) -> int:
        """Looked up when somebody asks for it: most boxes have answered before that. -1 if it has ended by then."""
        with open(f"/proc/self/fdinfo/{self._watch}") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["Pid"])

    def cpu_seconds(self) -> float:
        """The processor time of all its threads, to the nanosecond; 0 if it is gone, and its channel will say so."""
        if self._id < 0:
            return 0.0
        try:
            return time.clock_gettime((~self._id << 3) | 2)  # the kernel's MAKE_PROCESS_CPUCLOCK(…, CPUCLOCK_SCHED)
        except OSError:
            return 0.0

    def queued_seconds(self) -> float:
        """How long it has waited for a processor that others used; 0 where the kernel does not count that."""
        try:
            with open(f"/proc/{self._id}/schedstat", "rb") as file:
                return int(file.read().split()[1]) / 1e9
        except (OSError, IndexError):
            return 0.0

    def threads(self) -> int:
        try:
            with open(f"/proc/{self._id}/stat", "rb") as file:
                return int(file.read().rpartition(b")")[2].split()[17])
        except (OSError, IndexError):
            return 0


class _Stopwatch:
    """How long answers have been awaited while the box neither computed nor waited for a processor.

    What it computed and how long it queued is looked up only where the time on the wall exceeds a limit: looking takes
    longer than most answers. Whatever it does before the first question and between two it does for the answers too.
    """

    def __init__(self, process: _Process) -> None:
        self._process = process
        self._awaited = 0.0
        self._begun = 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        self._begun = time.monotonic()
        try:
            yield
        finally:
            self._awaited += time.monotonic() - self._begun

    def exceeds(self, limit: float) -> bool:
        awaited = self._awaited + time.monotonic() - self._begun
        if awaited <= limit:
            return False
        return awaited - self._process.cpu_seconds() - self._process.queued_seconds() > limit


class Channel:
    """The channel to one box. It ends with the box."""

    def __init__(
        self,
        server: ForkServer,
        number: int,
        ours: socket.socket,
        output: int,
        watch: int,
        limits: Limits,
        scratch: Path | None,
    ) -> None:
        """`scratch` is given where it is an ordinary folder, which no kernel limit keeps from growing."""
        self._server = server
        self._number = number
        self._socket = ours
        self._output = output
        self._watch = watch
        self._limits = limits
        self._process = _Process(watch)
        self._waiting = _Stopwatch(self._process)
        self._scratch = scratch
        self._looked = time.monotonic()
        self._frames = wire.Frames()
        self._answers: deque[Any] = deque()
        self._owed = 0
        self._unsent = memoryview(b"")
        self._wall_seconds = _JAIL_SECONDS
        self.printed = bytearray()
        self._open = True
        ours.setblocking(False)
        self._poll = select.poll()  # two descriptors for some milliseconds: `selectors` takes longer to set up
        self._poll.register(ours, select.POLLIN)
        self._poll.register(output, select.POLLIN)

    def greeting(self) -> Any:
        """What the box says before it has read anything of the student's."""
        try:
            answer = self._exchange(b"", Asked("the box"))
        except (_OverLimit, wire.WireError):
            return None
        self._waiting = _Stopwatch(self._process)
        self._wall_seconds = self._limits.wall_seconds
        return answer

    def ask_each(self, frame: bytes, count: int, asked: Asked) -> Iterator[Any]:
        """The replies to a frame of so many requests, in order. All of it is sent at once, so that neither side waits
        for the other in between."""
        while self._owed:  # what nobody waited for is not the answer to what is asked now
            self._answer(b"", asked)
        self._owed = count
        while self._owed:
            yield self._answer(frame, asked)
            frame = b""

    def what_it_printed(self) -> str:
        """Questions are sent together, so a check may end while the code still answers later ones. These are waited
        for, or what is shown would depend on who was quicker."""
        if self.printed and self._owed and self._open:
            with contextlib.suppress(StudentFault):
                while self._owed:
                    self._answer(b"", Asked("what was asked last"))
        return self.printed.decode("utf-8", "replace")

    def _answer(self, frame: bytes, asked: Asked) -> Any:
        if not self._open:
            raise Crashed(f"{asked} cannot be asked any more: its box has ended", code="process_ended")
        try:
            answer = self._exchange(frame, asked)
        except _OverLimit as over:
            self._end()
            raise over.fault from None
        except wire.WireError as error:
            self._end()
            self.printed.clear()  # how far code that forges answers came is chance
            raise fault_messages.no_answer(asked, str(error)) from None
        if answer is None:
            raise self._explain_silence(asked)
        self._owed -= 1
        return answer

    def _exchange(self, frame: bytes, asked: Asked) -> Any:
        """Send a frame and wait for an answer; None if the box hangs up. Output is drained all the while."""
        if frame:
            self._unsent = memoryview(frame)
        if self._answers:
            return self._answers.popleft()
        with self._waiting.running(), contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._send()
            while not self._answers:
                self._watch_limits(asked)
                for descriptor, events in self._poll.poll(1000 * _WATCH_SECONDS):
                    if descriptor == self._output:
                        if not self._drain():
                            self._poll.unregister(self._output)
                        continue
                    if events & ~select.POLLIN:  # a box that hangs up is found by either
                        self._send()
                    if events & ~select.POLLOUT:
                        data = self._socket.recv(_READ_BYTES)
                        if not data:
                            return None
                        self._answers += self._frames.feed(data)
            return self._answers.popleft()
        return None

    def _send(self) -> None:
        """As much as the box takes now; for the rest, listen for when it takes more."""
        if not self._unsent:
            return
        with contextlib.suppress(BlockingIOError):
            while self._unsent:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
        self._poll.modify(self._socket, select.POLLIN | (select.POLLOUT if self._unsent else 0))

    def _watch_limits(self, asked: Asked) -> None:
        now = time.monotonic()
        if now - self._looked < _WATCH_SECONDS:  # nobody waits longer than that without looking
            return
        self._looked = now
        if self._process.cpu_seconds() > self._limits.cpu_seconds:
            raise _OverLimit(fault_messages.used_up(asked, self._limits))
        if self._waiting.exceeds(self._wall_seconds):
            raise _OverLimit(fault_messages.took_too_long(asked, self._limits))
        if self._process.threads() > _MAX_THREADS:
            raise _OverLimit(Crashed(f"{asked} started more than {_MAX_THREADS} threads", code="too_many_threads"))
        if self._scratch is not None and exceeds(self._scratch, self._limits.scratch_mb * 2**20):
            told = f"{asked} wrote more than {self._limits.scratch_mb} MB to its scratch folder"
            raise _OverLimit(Crashed(told, code="wrote_too_much"))

    def _drain(self) -> bool:
        """Read what the student printed, keep the beginning. False when there will be no more."""
        data = os.read(self._output, _READ_BYTES)
        self.printed += data[: max(0, _KEPT_OUTPUT_BYTES - len(self.printed))]
        return bool(data)

    def _explain_silence(self, asked: Asked) -> Exception:
        poll = select.poll()
        poll.register(self._watch, select.POLLIN)
        ended_by_itself = bool(poll.poll(1000))
        code, cpu_seconds = self._end()
        if not ended_by_itself:
            return fault_messages.hung_up(asked)
        return fault_messages.ended(asked, code, cpu_seconds, self._limits)

    def _end(self) -> tuple[int, float]:
        """Kill the box and all in it, and wait until it is gone."""
        self._kill()
        return self._server.how_it_ended(self._number)

    def _kill(self) -> None:
        self._open = False
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._watch, signal.SIGKILL)

    def close(self) -> None:
        """Kill the box if it still runs. Nobody asks how it ended, so the next box need not wait for the kernel."""
        if self._open:
            self._kill()
            self._server.forget(self._number)
        self._socket.close()
        os.close(self._output)
        os.close(self._watch)
        if self._scratch is not None:
            remove(self._scratch)
