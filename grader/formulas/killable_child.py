"""Verdicts are reached in a process of their own that can be killed: no formula, however odd, holds up the grader.

A small server imports sympy once and forks a child for each question; the child has two seconds of processor time.
Python's own process pools cannot do this: they share one worker among questions, or import everything anew for each.
Windows cannot fork: there the server answers by itself, and is ended when it takes too long.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from grader.errors import cause_for_staff
from grader.plugins import register, registered

CPU_SECONDS = 2.0  # the slowest honest formula takes a tenth of it
_WALL_SECONDS = 60.0  # a machine with many others on it; processor time is what decides
_MEMORY_BYTES = 4 * 2**30  # of addresses; what is loaded already takes most of it
_RECURSION = 20_000  # an expression of 1,500 parts may be one long chain, and sympy goes deeper
_LENGTH = struct.Struct("!Q")


class TookTooLong(Exception):
    """The verdict was not reached in time."""


class _Server:
    def __init__(self) -> None:
        # -P: what lies in the current folder, a submission perhaps, is never imported.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.formulas.killable_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        self.owner = os.getpid()
        self._replies: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self) -> None:
        """In a thread, because not every system can wait for a pipe with a limit of time."""
        assert self._process.stdout is not None
        try:
            while True:
                self._replies.put(_receive(self._process.stdout))
        except (EOFError, OSError, ValueError):
            self._replies.put(None)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: bytes) -> Any:
        assert self._process.stdin is not None
        try:
            _send(self._process.stdin, request)
            reply = self._replies.get(timeout=_WALL_SECONDS)
        except OSError:
            reply = None
        except queue.Empty:
            self.close()
            raise TookTooLong from None
        if reply is None:
            self.close()
            raise RuntimeError("the process that judges formulas went away")
        return pickle.loads(reply)

    def close(self) -> None:
        if self.owner == os.getpid() and self.alive:
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
            self._process.wait()


_server: _Server | None = None


def start() -> None:
    """Begin loading sympy. Returns at once; the first question waits for it."""
    global _server
    if _server is None or _server.owner != os.getpid() or not _server.alive:
        _server = _Server()
        atexit.register(_server.close)


def in_killable_child(function: Callable[..., Any], *args: Any, cpu_seconds: float = CPU_SECONDS) -> Any:
    """What the function returns, computed in a child with bounded time; TookTooLong if it was killed for it."""
    start()
    assert _server is not None
    of_rubrics = registered()
    request = (of_rubrics, function.__module__, function.__qualname__, pickle.dumps(args), cpu_seconds)
    match _server.ask(pickle.dumps(request)):
        case ("found", value):
            return value
        case ("killed", _):
            raise TookTooLong
        case ("raised", text):
            raise RuntimeError(text)
    raise RuntimeError("the process that judges formulas answered nonsense")


def _send(stream: BinaryIO | Any, data: bytes) -> None:
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _receive(stream: Any) -> bytes:
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, length)


def _exactly(stream: Any, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = os.read(stream.fileno(), count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


# ---- the server's side ----


def _serve() -> None:
    from grader.formulas.warm_up import warm_up  # here, so that the grader itself does not load sympy for it

    gc.disable()  # nothing that is being loaded is garbage
    warm_up()  # the children find everything loaded and sympy's caches filled
    gc.enable()

    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a stray print must not end up among the answers
    can_fork = hasattr(os, "fork")
    while True:
        try:
            request = _receive(asked)
        except EOFError:
            return
        of_rubrics, module, name, arguments, cpu_seconds = pickle.loads(request)
        for package, (folder, digest) in of_rubrics.items():
            register(package, folder, digest)
        try:
            function = getattr(importlib.import_module(module), name)
            args = pickle.loads(arguments)
        except Exception as error:  # in a rubric's own checks, perhaps
            cause = f"the process that judges formulas cannot load {module}.{name}: {cause_for_staff(error)}"
            _send(answers, pickle.dumps(("raised", cause)))
            continue
        _send(answers, _in_a_child(function, args, cpu_seconds) if can_fork else _reply(function, args))


def _in_a_child(function: Callable[..., Any], args: tuple[Any, ...], cpu_seconds: float) -> bytes:
    import resource  # not on Windows

    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with contextlib.suppress(OSError, ValueError):  # macOS bounds no addresses
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)  # its default action ends the process, in C code too
        _answer(function, args, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        reply = stream.read()
    _, status = os.waitpid(child, 0)
    return pickle.dumps(("killed", status)) if status != 0 or not reply else reply


def _reply(function: Callable[..., Any], args: tuple[Any, ...]) -> bytes:
    sys.setrecursionlimit(_RECURSION)
    try:
        return pickle.dumps(("found", function(*args)))
    except Exception as error:  # ours, since students' mistakes are verdicts: the grader raises it
        return pickle.dumps(("raised", cause_for_staff(error)))


def _answer(function: Callable[..., Any], args: tuple[Any, ...], writing: int) -> None:
    try:
        reply = _reply(function, args)
        signal.setitimer(signal.ITIMER_PROF, 0)
        with os.fdopen(writing, "wb") as stream:
            stream.write(reply)
    finally:
        os._exit(0)


if __name__ == "__main__":
    _serve()
