"""The grader's end: starts the fork server, opens boxes, asks them for values, and ends them in time."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from grader.errors import BoxLost, BoxRefused, Crashed
from grader.model import Isolation, Limits, Student, Submission
from grader.sandbox import faults
from grader.sandbox.faults import Asked
from grader.sandbox.inside import jail, wire
from grader.sandbox.installation import find_installation

_BOOT = Path(__file__).parent / "inside" / "boot.py"
_MESSAGE_BYTES = 1 << 16
_READ_BYTES = 1 << 20
_KEPT_OUTPUT_BYTES = 1 << 16
_COPIED_MB = 32  # submissions up to this size are copied into each box's scratch folder, to be written into
_START_SECONDS = 120  # importing torch from a cold disk on a busy machine
_JAIL_SECONDS = 60
_CPU_WATCH_SECONDS = 0.1

# Not -I: that would also ignore PYTHONHASHSEED, and a student who iterates over a set deserves the same grade twice.
# The environment below is complete, so there is nothing else of PYTHON* to ignore.
_PYTHON_FLAGS = ("-s", "-P", "-S")
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",  # one box, one core: times are comparable and forking stays safe
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",  # arenas reserve address space, which is what the memory limit counts
    "CUDA_VISIBLE_DEVICES": "",
    "MPLBACKEND": "Agg",
}


class BoxRunner:
    """Runs student code in boxes forked from one warm process, which holds `libraries` and never an answer."""

    def __init__(
        self,
        libraries: tuple[str, ...] = ("numpy",),
        *,
        unsafe: bool = False,
        without: tuple[str, ...] = (),
    ) -> None:
        """`without` names layers to do without, as if the kernel lacked them."""
        self._libraries = libraries
        self._unsafe = unsafe
        self._without = without
        self._workspace = Path(tempfile.mkdtemp(prefix="grader-"))
        self._numbers = count(1)
        self._layers: tuple[str, ...] | None = None
        self._zygote: _Zygote | None = None

    def start(self) -> None:
        """Begin loading libraries. Returns at once; the first box waits for them."""
        if self._zygote is None:
            self._zygote = _Zygote(self._libraries, self._workspace, self._unsafe, self._without)

    @contextlib.contextmanager
    def open(self, submission: Submission, limits: Limits, seed: int) -> Iterator[Student]:
        self.start()
        assert self._zygote is not None
        box = _Box(self, self._zygote, next(self._numbers), submission, self._workspace, limits, seed)
        try:
            yield box
        except BoxLost:
            self._zygote.close()
            self._zygote = None
            raise
        finally:
            box.close()

    def saw_layers(self, layers: tuple[str, ...]) -> None:
        self._layers = layers

    @property
    def isolation(self) -> Isolation:
        layers = self._layers or ()
        wanted = (*jail.OPTIONAL, *jail.REQUIRED)
        missing = () if self._layers is None else tuple(layer for layer in wanted if layer not in layers)
        return Isolation(layers, missing)

    def close(self) -> None:
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None
        shutil.rmtree(self._workspace, ignore_errors=True)

    def __enter__(self) -> BoxRunner:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Zygote:
    """The fork server as the grader holds it: a process and a control socket."""

    def __init__(self, libraries: tuple[str, ...], workspace: Path, unsafe: bool, without: tuple[str, ...]) -> None:
        if not hasattr(os, "pidfd_open"):
            raise BoxRefused(f"boxes need Linux 5.3 or newer; this is {sys.platform}. `grader doctor` says more")
        installation = find_installation(libraries)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = {
            "control": theirs.fileno(),
            "path": installation.path,
            "preload": libraries,
            "readable": installation.readable,
            "listable": installation.path,
            "installation": installation.folders,
            "workspace": str(workspace),
            "unsafe": unsafe,
            "without": without,
        }
        self._process = subprocess.Popen(
            [sys.executable, *_PYTHON_FLAGS, str(_BOOT), json.dumps(settings)],
            env=_ENVIRONMENT,
            cwd="/",
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        theirs.close()
        self._ready = False
        self.isolated = False
        self._ended: dict[int, dict[str, Any]] = {}
        self._forgotten: set[int] = set()

    def wait_until_ready(self) -> None:
        if not self._ready:
            self._control.settimeout(_START_SECONDS)
            message, _ = self._receive()
            self.isolated = bool(message["isolated"])
            self._ready = True

    def open(self, request: dict[str, Any], descriptors: list[int]) -> int:
        """Fork a box. Returns a descriptor for its process."""
        self._control.settimeout(_JAIL_SECONDS)
        try:
            socket.send_fds(self._control, [json.dumps({"open": request}).encode()], descriptors)
        except OSError as error:
            raise self._lost() from error
        while True:
            message, received = self._receive()
            if message.get("opened") == request["id"]:
                return received[0]

    def how_it_ended(self, box: int) -> tuple[int, float]:
        """Exit code and processor seconds of a box that has been killed or has ended by itself."""
        self._control.settimeout(_JAIL_SECONDS)
        while box not in self._ended:
            self._receive()
        ending = self._ended.pop(box)
        return ending["code"], ending["cpu_seconds"]

    def forget(self, box: int) -> None:
        """Nobody will ask how this box ended."""
        if self._ended.pop(box, None) is None:
            self._forgotten.add(box)

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        try:
            data, received, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 1)
        except OSError as error:
            raise self._lost() from error
        if not data:
            raise self._lost()
        message: dict[str, Any] = json.loads(data)
        if "ended" in message:
            box = message["ended"]
            if box in self._forgotten:
                self._forgotten.discard(box)
            else:
                self._ended[box] = message
        return message, received

    def _lost(self) -> BoxLost:
        self._process.kill()
        said = self._process.stderr.read().decode(errors="replace").strip() if self._process.stderr else ""
        last = said.splitlines()[-1] if said else "it said nothing"
        return BoxLost(f"the fork server that makes the boxes is gone ({last})")

    def close(self) -> None:
        self._control.close()  # it ends on hearing that, and every box with it
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:  # still importing
            self._process.kill()
            self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()


class _Box:
    """One student's code in one box, for one check. Forked at the first question."""

    def __init__(
        self,
        runner: BoxRunner,
        zygote: _Zygote,
        number: int,
        submission: Submission,
        workspace: Path,
        limits: Limits,
        seed: int,
    ) -> None:
        self._runner = runner
        self._zygote = zygote
        self._number = number
        self._submission = submission
        self._workspace = workspace
        self._limits = limits
        self._seed = seed
        self._line: _Line | None = None

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        return self.probe("call", file, function=function, args=list(args), kwargs=kwargs)

    def probe(self, probe: str, file: str, /, **request: Any) -> Any:
        place = self._submission.find(file)
        asked = Asked(place, str(request.get("function") or request.get("name") or ""))
        if self._line is None:
            self._line = self._open()
        reply = self._line.ask({"probe": probe, "file": place, **request}, asked)
        return faults.value_of(reply, asked)

    @property
    def _scratch(self) -> Path:
        """With namespaces every box mounts a file system of its own here, unseen by the others and gone with it."""
        return self._workspace / ("scratch" if self._zygote.isolated else f"scratch-{self._number}")

    def _open(self) -> _Line:
        limits = self._limits
        self._zygote.wait_until_ready()
        self._scratch.mkdir(mode=0o700, exist_ok=True)
        request = {
            "id": self._number,
            "seed": self._seed,
            "copy": self._submission.size_bytes <= _COPIED_MB * 2**20,
            "confinement": {
                "submission": str(self._submission.folder),
                "scratch": str(self._scratch),
                "cpu_seconds": limits.cpu_seconds,
                "memory_mb": limits.memory_mb,
                "scratch_mb": limits.scratch_mb,
            },
        }
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        try:
            watch = self._zygote.open(request, [theirs.fileno(), writing])
        except BaseException:
            ours.close()
            os.close(reading)
            raise
        finally:
            theirs.close()
            os.close(writing)
        line = _Line(self._zygote, self._number, ours, reading, watch, limits)
        match line.greeting():
            case {"layers": list(layers)}:
                self._runner.saw_layers(tuple(layers))
                return line
            case {"refused": str(reason)}:
                line.close()
                raise BoxRefused(f"the box is not safe on this machine: {reason}. `grader doctor` says more")
        line.close()
        raise BoxLost("a box ended before it was ready")

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
            if not self._zygote.isolated:
                shutil.rmtree(self._scratch, ignore_errors=True)


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


class _Line:
    """The connection to a forked box: questions out, answers in, its output drained, its time watched."""

    def __init__(
        self, zygote: _Zygote, number: int, ours: socket.socket, output: int, watch: int, limits: Limits
    ) -> None:
        self._zygote = zygote
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
        answer = self._exchange(b"")
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
        return self._zygote.how_it_ended(self._number)

    def _kill(self) -> None:
        self._open = False
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._watch, signal.SIGKILL)

    def close(self) -> None:
        """Kill the box if it still runs. Nobody asks how it ended, so the next box need not wait for the kernel."""
        if self._open:
            self._kill()
            self._zygote.forget(self._number)
        self._socket.close()
        os.close(self._output)
        os.close(self._watch)
