"""Runs one's own code without a box, where the operating system gives none: macOS, Windows, old kernels.

It never runs anybody else's code. One process serves all checks, so that torch is loaded once; each check gets a fresh
copy of the submission, and a process that hangs or dies is replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import IO, Any

from grader.errors import Crashed
from grader.model import Box, Isolation, Limits, Submission
from grader.sandbox.box import wire
from grader.sandbox.host import fault_messages
from grader.sandbox.host.asking import Asking
from grader.sandbox.host.fault_messages import Asked

_BOOT = Path(__file__).parent.parent / "box" / "boot.py"
_READ_BYTES = 1 << 20
_KEPT_OUTPUT_BYTES = 1 << 16
_LOADING_SECONDS = 120  # torch from a cold disk


class OpenRunner:
    def __init__(self, libraries: tuple[str, ...] = ("numpy",)) -> None:
        self._libraries = libraries
        self._workspace = Path(tempfile.mkdtemp(prefix="grader-"))
        self._numbers = count(1)
        self._process: _Process | None = None

    def start(self) -> None:
        """Begin loading libraries. Returns at once; the first question waits for them."""
        if self._process is None or not self._process.alive:
            self._process = _Process(self._libraries)

    @contextlib.contextmanager
    def open(self, submission: Submission, limits: Limits, seed: int) -> Iterator[Box]:
        box = _OpenBox(self, submission, limits, seed)
        try:
            yield box
        finally:
            box.close()

    def begin(self, submission: Submission, seed: int) -> tuple[_Process, Path]:
        """The process, with a fresh copy of the submission for its folder."""
        self.start()
        assert self._process is not None
        home = self._workspace / f"submission-{next(self._numbers)}"
        shutil.copytree(submission.folder, home)
        self._process.send(wire.pack_question({"begin": {"home": str(home), "seed": seed}}))
        return self._process, home

    @property
    def isolation(self) -> Isolation:
        return Isolation((), ("box",))

    def close(self) -> None:
        if self._process is not None:
            self._process.end()
        shutil.rmtree(self._workspace, ignore_errors=True)

    def __enter__(self) -> OpenRunner:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _OpenBox(Asking):
    """One check's questions to the process. It begins at the first of them."""

    def __init__(self, runner: OpenRunner, submission: Submission, limits: Limits, seed: int) -> None:
        super().__init__(submission)
        self._runner = runner
        self._limits = limits
        self._seed = seed
        self._process: _Process | None = None
        self._home: Path | None = None
        self._deadline = 0.0

    def _replies(self, frame: bytes, count: int, asked: Asked) -> Iterator[Any]:
        if self._process is None:
            self._process, self._home = self._runner.begin(self._submission, self._seed)
            # Nothing here tells code that sleeps from code that computes.
            seconds = max(self._limits.wall_seconds, self._limits.cpu_seconds)
            self._deadline = time.monotonic() + seconds + self._process.loading_seconds
        if not self._process.alive:
            raise Crashed(f"{asked} cannot be asked any more: its process has ended", code="process_ended")
        self._process.owed += count
        self._process.send(frame)
        for _ in range(count):
            yield self._process.answer(self._deadline, asked, self._limits)

    @property
    def printed(self) -> str:
        return self._process.printed.decode("utf-8", "replace") if self._process else ""

    def close(self) -> None:
        """Answers nobody waited for would be taken for those to the next check's questions."""
        if self._process is not None and self._process.owed:
            self._process.end()
        if self._process is not None:
            self._process.printed.clear()
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)


class _Process:
    """Threads read from it: what works on every system, where waiting for several pipes does not."""

    def __init__(self, libraries: tuple[str, ...]) -> None:
        path = [folder for folder in sys.path if folder]
        settings = {"starts": "sandbox.box.unboxed_worker", "path": path, "preload": libraries}
        self._popen = subprocess.Popen(
            [sys.executable, "-P", str(_BOOT), json.dumps(settings)],
            env={**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.printed = bytearray()
        self.owed = 0
        self._answered = False
        self._answers: queue.Queue[Any] = queue.Queue()
        for read in (self._collect_answers, self._collect_output):
            threading.Thread(target=read, daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._popen.poll() is None

    @property
    def loading_seconds(self) -> float:
        return 0.0 if self._answered else _LOADING_SECONDS

    def send(self, frames: bytes) -> None:
        with contextlib.suppress(OSError):  # it has ended, and the next answer will say so
            _stream(self._popen.stdin).write(frames)
            _stream(self._popen.stdin).flush()

    def answer(self, deadline: float, asked: Asked, limits: Limits) -> Any:
        try:
            answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            self.end()
            raise fault_messages.took_too_long(asked, limits) from None
        if answer is None:
            self.end()
            raise fault_messages.ended(asked, self._popen.returncode, 0.0, limits)
        self.owed -= 1
        self._answered = True
        return answer

    def _collect_answers(self) -> None:
        frames = wire.Frames()
        with contextlib.suppress(OSError, ValueError, wire.WireError):
            while data := os.read(_stream(self._popen.stdout).fileno(), _READ_BYTES):
                for answer in frames.feed(data):
                    self._answers.put(answer)
        self._answers.put(None)

    def _collect_output(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(_stream(self._popen.stderr).fileno(), _READ_BYTES):
                self.printed += data[: max(0, _KEPT_OUTPUT_BYTES - len(self.printed))]

    def end(self) -> None:
        self._popen.kill()
        self._popen.wait()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # all three are pipes
    return stream
