"""Has a fork server make a box, and waits until it has put its jail on."""

from __future__ import annotations

import os
import socket
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.errors import BoxLost, BoxUnsafe
from grader.model import Limits
from grader.sandbox.channel import Channel
from grader.sandbox.fork_server import ForkServer


def confined(submission: str, scratch: Path, limits: Limits) -> dict[str, Any]:
    """What a box may use, as `inside/jail.py` has it."""
    return {
        "submission": submission,
        "scratch": str(scratch),
        "cpu_seconds": limits.cpu_seconds,
        "memory_mb": limits.memory_mb,
        "scratch_mb": limits.scratch_mb,
    }


def scratch_in(workspace: Path, server: ForkServer, number: int) -> Path:
    """With namespaces every box mounts a file system of its own, unseen by the others and gone with it."""
    return _made(workspace / ("scratch" if server.isolated else f"scratch-{number}"))


@lru_cache(maxsize=4)  # all boxes with namespaces have the same
def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def opened(
    server: ForkServer, request: dict[str, Any], limits: Limits, scratch: Path | None
) -> tuple[Channel, tuple[str, ...]]:
    """The channel to a new box, and the layers of its jail. `scratch` as a channel takes it."""
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
    channel = Channel(server, request["id"], ours, reading, watch, limits, scratch)
    match channel.greeting():
        case {"layers": list(layers)}:
            return channel, tuple(layers)
        case {"refused": str(reason)}:
            channel.close()
            raise BoxUnsafe(f"the box is not safe on this machine: {reason}")
        case {"broken": str(reason)}:
            channel.close()
            raise BoxLost(f"a box could not be set up ({reason})")
    channel.close()
    raise BoxLost("a box ended before it was ready")
