"""The fork server as the grader holds it: a process, a control socket, and what it says of its boxes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from grader.errors import BoxLost, BoxRefused
from grader.sandbox import rehearsed_code
from grader.sandbox.installation import find_installation

_BOOT = Path(__file__).parent / "inside" / "boot.py"
_MESSAGE_BYTES = 1 << 16
_START_SECONDS = 120  # importing torch from a cold disk on a busy machine
_ANSWER_SECONDS = 60

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


class ForkServer:
    """Started at once; whoever opens the first box waits until it is ready."""

    def __init__(self, libraries: tuple[str, ...], workspace: Path, unsafe: bool, without: tuple[str, ...]) -> None:
        if not hasattr(os, "pidfd_open"):
            raise BoxRefused(f"boxes need Linux 5.3 or newer; this is {sys.platform}. `grader doctor` says more")
        installation = find_installation(libraries)
        rehearsed = workspace / f"rehearsal-{'-'.join(libraries)}"
        rehearsed.mkdir(exist_ok=True)  # a server before this one may have ended before it was ready
        for name, text in rehearsed_code.FILES.items():
            (rehearsed / name).write_text(text)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = {
            "control": theirs.fileno(),
            "path": installation.path,
            "preload": libraries,
            "readable": installation.readable,
            "listable": installation.path,
            "installation": installation.folders,
            "workspace": str(workspace),
            "rehearsal": str(rehearsed),
            "unsafe": unsafe,
            "without": without,
        }
        # A file: a large installation makes it longer than an argument may be.
        written = workspace / f"settings-{'-'.join(libraries)}.json"
        written.write_text(json.dumps(settings))
        self._settings, self._rehearsed = written, rehearsed
        self._process = subprocess.Popen(
            [sys.executable, *_PYTHON_FLAGS, str(_BOOT), str(written)],
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
            self._settings.unlink()  # its age would tell boxes for how long there have been some
            shutil.rmtree(self._rehearsed)
            self._ready = True

    def open(self, request: dict[str, Any], descriptors: list[int]) -> int:
        """Fork a box. Returns a descriptor for its process."""
        self._control.settimeout(_ANSWER_SECONDS)
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
        self._control.settimeout(_ANSWER_SECONDS)
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
        if not self._ready:  # it is still importing, and hears nothing
            self._process.kill()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()
