"""A grading process as a worker holds it: started once, asked one thing at a time, started anew where it has ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from grader.batch.cluster.sealing import packed, unpacked
from grader.grading.secret import FILE_VARIABLE, VARIABLE

_START_SECONDS = 300  # torch from a cold disk that many machines share
# Honest work takes seconds, and what sleeps is ended by its box; this is for a fault of ours that waits for ever.
_HANGS_AFTER_SECONDS = 3600
_FAREWELL_SECONDS = 5


class ProcessEnded(Exception):
    """It ended, or had to be ended, before it had answered."""


class HeldProcess:
    def __init__(self, folder: Path, plan: tuple[bytes, bytes]) -> None:
        """In a folder below the one given, with a plan as `Parcel.sealed` makes it."""
        self._above, self._plan = folder, plan
        self._lock = threading.Lock()  # a worker with several threads still grades one at a time
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None
        self._folders = contextlib.ExitStack()  # a process that was killed clears up nothing

    def hello(self) -> dict[str, Any]:
        """What it says of its boxes, once it is ready: `layers` and `missing`, or `refused`."""
        with self._lock:
            return self._started()

    def ask(self, words: bytes, content: bytes, lost: list[str]) -> dict[str, Any]:
        """About what was handed in; `lost` names workers that ended over it."""
        with self._lock:
            if self._process is None and "refused" in (hello := self._started()):
                return hello
            return self._asked((words, content, packed(lost)), _HANGS_AFTER_SECONDS)

    def rest(self) -> None:
        """Ends it once it is idle; the next question starts it anew."""
        with self._lock:
            self._end()

    def close(self) -> None:
        """Ends it at once, whatever it is doing; who waits for its answer hears it."""
        if (process := self._process) is not None:
            _kill(process)
        self.rest()

    def _started(self) -> dict[str, Any]:
        self._end()
        folder = Path(tempfile.mkdtemp(prefix="grader-", dir=self._above))
        self._folders.callback(shutil.rmtree, folder, ignore_errors=True)
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-P", "-m", "grader.batch.cluster.grading_process", str(theirs.fileno())]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**_without_secret(), "TMPDIR": str(folder)},
                start_new_session=True,
            )
        self._line = Connection(ours.detach())
        return self._asked(self._plan, _START_SECONDS)

    def _asked(self, messages: tuple[bytes, ...], seconds: float) -> dict[str, Any]:
        assert self._line is not None
        try:
            for message in messages:
                self._line.send_bytes(message)
            if not self._line.poll(seconds):
                self._end()
                raise ProcessEnded(f"it did not answer within {seconds:g} s and was ended")
            answer: dict[str, Any] = unpacked(self._line.recv_bytes())
        except (OSError, EOFError):
            self._end()
            raise ProcessEnded("it ended before it had answered") from None
        if "refused" in answer:
            self._end()
        return answer

    def _end(self) -> None:
        process, line, self._process, self._line = self._process, self._line, None, None
        if line is not None:
            line.close()  # it hears this, and clears up
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_FAREWELL_SECONDS)
            _kill(process)
            process.wait()
        self._folders.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _without_secret() -> dict[str, str]:
    """It is told the secret with the plan; anybody on the machine who may look at the process could read it here."""
    return {name: value for name, value in os.environ.items() if name not in (VARIABLE, FILE_VARIABLE)}
