"""The line to a forked box: questions out, answers in, its output drained, its time watched."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import time
from typing import Any

from grader.errors import Crashed
from grader.model import Limits
from grader.sandbox import faults
from grader.sandbox.faults import Asked
from grader.sandbox.fork_server import ForkServer
from grader.sandbox.inside import wire

_READ_BYTES = 1 << 20
_KEPT_OUTPUT_BYTES = 1 << 16
_JAIL_SECONDS = 60
_CPU_WATCH_SECONDS = 0.1


class _OutOfTime(Exception):
    def __init__(self, *, of_processor: bool) -> None:
        super().__init__()
        self.of_processor = of_processor


class _ProcessorClock:
    """The processor time of a process and all its threads, to the nanosecond, read from outside."""

    def __init__(self, watch: int) -> None:
        with open(f"/proc/self/fdinfo/{watch}") as file:
            fields = dict(line.split(":", 1) for line in file)
        process = int(fields["Pid"])
        self._clock = (~process << 3) | 2  # the kernel's MAKE_PROCESS_CPUCLOCK(process, CPUCLOCK_SCHED)

    def seconds(self) -> float:
        try:
            return time.clock_gettime(self._clock)
        except OSError:  # the process is gone, and its line will say so
            return 0.0


class Line:
    """One box's. Ends with the box."""

    def __init__(
        self, server: ForkServer, number: int, ours: socket.socket, output: int, watch: int, limits: Limits
    ) -> None:
        self._server = server
        self._number = number
        self._socket = ours
        self._output = output
        self._watch = watch
        self._limits = limits
        self._clock = _ProcessorClock(watch)
        self._frames = wire.Frames()
        self._answers: list[Any] = []
        self._deadline = time.monotonic() + _JAIL_SECONDS
        self.printed = bytearray()
        self._open = True
        ours.setblocking(False)

    def greeting(self) -> Any:
        """What the box says before it has read anything of the student's."""
        try:
            answer = self._exchange(b"")
        except (_OutOfTime, wire.WireError):
            return None
        self._deadline = time.monotonic() + self._limits.wall_seconds
        return answer

    def ask(self, request: dict[str, Any], asked: Asked) -> Any:
        if not self._open:
            raise Crashed(f"{asked} cannot be asked any more: its box has ended")
        frame = b"".join(wire.pack(request))
        try:
            answer = self._exchange(frame)
        except _OutOfTime as limit:
            self._end()
            explain = faults.used_up if limit.of_processor else faults.took_too_long
            raise explain(asked, self._limits) from None
        except wire.WireError as error:
            self._end()
            raise Crashed(f"{asked} answered the grader with something that is not an answer ({error})") from None
        if answer is None:
            raise self._explain_silence(asked)
        return answer

    def _exchange(self, frame: bytes) -> Any:
        """Send a frame and wait for the answer; None if the box hangs up. Output is drained all the while."""
        unsent = memoryview(frame)
        with selectors.DefaultSelector() as selector:
            writing = selectors.EVENT_WRITE if unsent else 0
            selector.register(self._socket, selectors.EVENT_READ | writing)
            selector.register(self._output, selectors.EVENT_READ)
            while not self._answers:
                if self._clock.seconds() > self._limits.cpu_seconds:
                    raise _OutOfTime(of_processor=True)
                remaining = self._deadline - time.monotonic()
                if remaining <= 0:
                    raise _OutOfTime(of_processor=False)
                for key, events in selector.select(min(remaining, _CPU_WATCH_SECONDS)):
                    if key.fileobj == self._output:
                        if not self._drain():
                            selector.unregister(self._output)
                        continue
                    try:
                        if events & selectors.EVENT_WRITE:
                            unsent = unsent[self._socket.send(unsent) :]
                            if not unsent:
                                selector.modify(self._socket, selectors.EVENT_READ)
                        if events & selectors.EVENT_READ:
                            data = self._socket.recv(_READ_BYTES)
                            if not data:
                                return None
                            self._answers += self._frames.feed(data)
                    except (BrokenPipeError, ConnectionResetError):
                        return None
        return self._answers.pop(0)

    def _drain(self) -> bool:
        """Read what the student printed, keep the beginning. False when there will be no more."""
        data = os.read(self._output, _READ_BYTES)
        self.printed += data[: max(0, _KEPT_OUTPUT_BYTES - len(self.printed))]
        return bool(data)

    def _explain_silence(self, asked: Asked) -> Exception:
        with selectors.DefaultSelector() as selector:
            selector.register(self._watch, selectors.EVENT_READ)
            ended_by_itself = bool(selector.select(1.0))
        code, cpu_seconds = self._end()
        if not ended_by_itself:
            return faults.hung_up(asked)
        return faults.ended(asked, code, cpu_seconds, self._limits)

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
