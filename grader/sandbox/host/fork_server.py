"""Fork servers as the grader holds them: a process, a control socket, and what it says of its boxes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from grader.errors import BoxLost, BoxRefused
from grader.sandbox.host.installation import find_installation
from grader.sandbox.host.loading_process import taken
from grader.sandbox.host.mentioned_libraries import HEAVY

_MESSAGE_BYTES = 1 << 16
_START_SECONDS = 120  # importing torch from a cold disk on a busy machine
_ANSWER_SECONDS = 60
_END_SECONDS = 5
_SAID_BYTES = 1 << 16
# What the fork server warms up with. The grader writes these files, and needs no numpy for that.
_WARM_UP = {
    "warm_up.py": '''"""Code as homework has it."""
import math
import numpy as np

from warm_up_too import halved

SCALE = 2.0


def scaled(x, y, factor=1.0, mask=None):
    z = factor * (x.T @ y) / math.sqrt(len(x))
    z = np.abs(z - z.mean(axis=0, keepdims=True)) + np.log1p(z.max() ** 2)
    if mask is not None:
        z = np.where(mask, z, 0)
    rows = []
    for row in z.reshape(2, -1):
        rows.append(row.sum() * SCALE)
    return halved(np.concatenate([z, z], axis=0) / len(rows))
''',
    "warm_up_too.py": """import numpy as np


def halved(x):
    return x / 2
""",
}


def start_servers(
    libraries: tuple[str, ...], workspace: Path, unsafe: bool, without: tuple[str, ...]
) -> dict[tuple[str, ...], ForkServer]:
    """By what they load: one with all these libraries and, if some of them are heavy, one with the others. Returns at
    once; whoever opens the first box waits until its server is ready."""
    if not hasattr(os, "pidfd_open"):
        raise BoxRefused(f"boxes need Linux 5.3 or newer; this is {sys.platform}. `grader doctor` says more")
    installation = find_installation(libraries)
    light = tuple(name for name in libraries if name not in HEAVY)
    loading = taken()
    warm_up, light_warm_up = _warm_up_in(workspace), None
    servers = {libraries: ForkServer(loading.process, loading.control, warm_up)}
    if light == libraries:
        loading.light_control.close()
    else:
        light_warm_up = _warm_up_in(workspace)
        servers[light] = ForkServer(loading.process, loading.light_control, light_warm_up, parts=True)
    settings = {
        "path": installation.path,
        "light": light,
        "heavy": [name for name in libraries if name in HEAVY],
        "readable": installation.readable,
        "listable": installation.path,
        "installation": installation.folders,
        "workspace": str(workspace),
        "warm_up": str(warm_up),
        "light_warm_up": str(light_warm_up),
        "unsafe": unsafe,
        "without": without,
    }
    # A file: a large installation makes it longer than a message may be.
    written = warm_up / "settings.json"
    written.write_text(json.dumps(settings))
    with contextlib.suppress(OSError):  # it is gone: whoever waits for it is told
        loading.control.send(os.fsencode(written))
    return servers


def _warm_up_in(workspace: Path) -> Path:
    # By a name that no sandbox can guess: its age would tell for how long there have been some.
    folder = Path(tempfile.mkdtemp(prefix="warm-up-", dir=workspace))
    for name, text in _WARM_UP.items():
        (folder / name).write_text(text)
    return folder


class ForkServer:
    def __init__(
        self, process: subprocess.Popen[bytes], control: socket.socket, warm_up: Path, *, parts: bool = False
    ) -> None:
        """`process` is the one it was begun as. One that `parts` from it leaves it to another. `warm_up` is a
        folder for its own code, which it runs before it is ready; it is removed then."""
        self._process = process
        self._control = control
        self._parts = parts
        self._warm_up = warm_up
        self._ready = False
        self.isolated = False
        self._ended: dict[int, dict[str, Any]] = {}
        self._forgotten: set[int] = set()

    def wait_until_ready(self) -> None:
        if not self._ready:
            self._control.settimeout(_START_SECONDS)
            message, _ = self._receive()
            self.isolated = bool(message["isolated"])
            shutil.rmtree(self._warm_up)
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
        said = self._said().decode(errors="replace").strip()
        last = said.splitlines()[-1] if said else "it said nothing"
        return BoxLost(f"the fork server that makes the boxes is gone ({last})")

    def _said(self) -> bytes:
        """What it said before it went. Another server may still hold the same pipe, so nobody waits for its end."""
        if self._process.stderr is None:
            return b""
        os.set_blocking(self._process.stderr.fileno(), False)
        try:
            return os.read(self._process.stderr.fileno(), _SAID_BYTES)
        except OSError:
            return b""

    def hang_up(self) -> None:
        """It ends on hearing that, and every box with it."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        if not self._ready and not self._parts:  # it is still importing, and hears nothing
            self._process.kill()

    def wait_until_ended(self) -> None:
        """Its end of the socket is closed when its memory has been given back."""
        self._control.settimeout(_END_SECONDS)
        try:
            while self._control.recv(_MESSAGE_BYTES):
                pass
        except OSError:
            self._process.kill()
        self._control.close()

    def wait_for_its_process(self) -> None:
        self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()


def end_servers(servers: Collection[ForkServer]) -> None:
    """All at once, since several may have been begun as one process, which ends when all have."""
    for server in servers:
        server.hang_up()
    for server in servers:
        server.wait_until_ended()
    for server in servers:
        server.wait_for_its_process()
