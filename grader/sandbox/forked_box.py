"""One student's code in one box, forked from a warm process at the first question."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import BoxLost, BoxUnsafe
from grader.model import Limits, Submission
from grader.sandbox.asking import Asking
from grader.sandbox.box_endings import Asked
from grader.sandbox.channel import Channel, Question
from grader.sandbox.fork_server import ForkServer
from grader.sandbox.scratch import remove

if TYPE_CHECKING:
    from grader.sandbox.runner import BoxRunner

_COPIED_MB = 32  # submissions up to this size are copied into each box's scratch folder, to be written into


class ForkedBox(Asking):
    """One student's code in one box. Forked at the first question."""

    def __init__(self, runner: BoxRunner, number: int, submission: Submission, limits: Limits, seed: int) -> None:
        super().__init__(submission)
        self._runner = runner
        self._number = number
        self._limits = limits
        self._seed = seed
        self._channel: Channel | None = None
        self._server: ForkServer | None = None
        self._scratch: Path | None = None  # where the grader has to clear up
        self._questions: list[Question] = []
        self._asks_ahead = False

    def begin_check(self, *, ahead: bool = False) -> None:
        super().begin_check(ahead=ahead)
        if ahead and not self._asks_ahead and self._channel is not None:
            self._asks_ahead = True
            if self._runner.may_want_a_gpu(self._submission, self._server):
                return  # all later answers would say so, and nobody could tell which question's code it was
            self._channel.send_ahead(self._runner.usually_after(self._questions))

    def _replies(self, frame: bytes, count: int, asked: Asked) -> Iterator[Any]:
        if self._channel is None:
            self._channel = self._open(asked.file)
        self._questions.append((frame, count))
        return self._channel.ask_each(frame, count, asked)

    @property
    def printed(self) -> str:
        return self._channel.what_it_printed() if self._channel else ""

    def suits(self, file: str) -> bool:
        if not super().suits(file):
            return False
        return self._runner.server_for(self._submission, self._submission.find(file)) is self._server

    def _open(self, file: str) -> Channel:
        limits = self._limits
        linked = self._runner.within_reach(self._submission)
        server = self._server = self._runner.server_for(self._submission, file)
        server.wait_until_ready()
        # With namespaces every box mounts a file system of its own here, unseen by the others and gone with it.
        scratch = self._runner.workspace / ("scratch" if server.isolated else f"scratch-{self._number}")
        scratch.mkdir(mode=0o700, exist_ok=True)
        self._scratch = None if server.isolated else scratch
        request = {
            "id": self._number,
            "seed": self._seed,
            "copy": self._submission.size_bytes <= _COPIED_MB * 2**20,
            "confinement": {
                "submission": str(linked),
                "scratch": str(scratch),
                "cpu_seconds": limits.cpu_seconds,
                "memory_mb": limits.memory_mb,
                "scratch_mb": limits.scratch_mb,
            },
        }
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        try:
            watch = server.open(request, [theirs.fileno(), writing])
        except BaseException:
            ours.close()
            os.close(reading)
            raise
        finally:
            theirs.close()
            os.close(writing)
        channel = Channel(server, self._number, ours, reading, watch, limits, self._scratch)
        match channel.greeting():
            case {"layers": list(layers)}:
                self._runner.saw_layers(tuple(layers))
                return channel
            case {"refused": str(reason)}:
                channel.close()
                raise BoxUnsafe(f"the box is not safe on this machine: {reason}")
            case {"broken": str(reason)}:
                channel.close()
                raise BoxLost(f"a box could not be set up ({reason})")
        channel.close()
        raise BoxLost("a box ended before it was ready")

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._asks_ahead:
            self._runner.was_asked(self._questions)
        if self._scratch is not None:
            remove(self._scratch)
