"""A process that loads what every box needs, and is told later what else: a fork server before it serves.

`grader run` and `grader check` begin one before all else. It loads numpy and what runs in a box while the grader reads
its command line, and by then it is known which libraries the rubric wants. So little is imported here.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass

_BOOT = os.path.join(os.path.dirname(os.path.dirname(__file__)), "box", "boot.py")
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


@dataclass(frozen=True)
class LoadingProcess:
    """It becomes one fork server or, if heavy libraries are asked for, two: it forks before it loads those."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    light_control: socket.socket  # of the one without heavy libraries


_ahead: list[LoadingProcess] = []


def begin_ahead() -> None:
    """Begin one for whoever takes the first; where there is no box, nothing."""
    if hasattr(os, "pidfd_open") and importlib.util.find_spec("numpy") is not None:
        _ahead.append(_begun())
        atexit.register(_end_what_nobody_took)


def taken() -> LoadingProcess:
    """One that was begun ahead, or a new one."""
    return _ahead.pop() if _ahead else _begun()


def _end_what_nobody_took() -> None:
    while _ahead:
        _ahead.pop().process.kill()


def _begun() -> LoadingProcess:
    numpy = importlib.util.find_spec("numpy")
    if numpy is None or numpy.origin is None:
        from grader.errors import BoxRefused

        raise BoxRefused("boxes need numpy, which is not installed: pip install numpy")
    control, its_own = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    light_control, its_light = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    settings = {
        "starts": "sandbox.box.zygote",
        "packages": os.path.dirname(os.path.dirname(numpy.origin)),
        "control": its_own.fileno(),
        "light_control": its_light.fileno(),
    }
    process = subprocess.Popen(
        [sys.executable, *_PYTHON_FLAGS, _BOOT, json.dumps(settings)],
        env=_ENVIRONMENT,
        cwd="/",
        pass_fds=[its_own.fileno(), its_light.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    its_own.close()
    its_light.close()
    return LoadingProcess(process, control, light_control)
