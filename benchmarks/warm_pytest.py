"""pytest in forks of a process that has the large libraries loaded: a run begins in a tenth of a second, not in four.

with WarmPytest(folder) as warm:
    code, printed = warm.run(["-x", "tests/test_compare.py"], patience=60)
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

# What tests import, but nothing of the project: that is what differs from run to run.
_LIBRARIES = (
    "hypothesis jinja2 lark markdown_it nbformat numpy pydantic pytest rich.console sympy torch typer.testing yaml"
)
HANGS = -1
_ASLEEP = (180.0, 0.01)  # seconds in which no test ends, and a share of one processor: whoever uses less only waits
_LOOK_EVERY = 1.0
_TICKS = os.sysconf("SC_CLK_TCK")


class WarmPytest:
    """Runs pytest in one folder, one run at a time."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve())],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments: list[str], patience: float) -> tuple[int, str]:
        """Its exit code and what it printed; HANGS, if no test ends in so many seconds of the processor's time.

        Time on the wall says nothing where other programs run as well.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"arguments": arguments, "patience": patience}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return int(answer["code"]), str(answer["printed"])

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


def _serve() -> None:
    for name in _LIBRARIES.split():
        import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        order = json.loads(line)
        with tempfile.TemporaryFile("w+", errors="replace") as printed:
            code = _run(order["arguments"], order["patience"], printed.fileno())
            printed.seek(0)
            answers.write(json.dumps({"code": code, "printed": printed.read()}) + "\n")
            answers.flush()


def _run(arguments: list[str], patience: float, printed: int) -> int:
    child = os.fork()
    if child == 0:
        import pytest

        os.setsid()  # so that everything a hanging test started ends with it
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        code = pytest.main(arguments)
        sys.stdout.flush()
        os._exit(code)
    watch = _Watch(child, printed, patience)
    while not watch.hangs():
        until = time.monotonic() + _LOOK_EVERY
        while time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                _end_group(child)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
    _end_group(child)
    os.waitpid(child, 0)
    return HANGS


class _Watch:
    """Whether a run gets on: pytest prints a sign whenever a test ends."""

    def __init__(self, child: int, printed: int, patience: float) -> None:
        self._child, self._printed, self._patience = child, printed, patience
        self._size, self._since, self._used = -1, 0.0, 0.0

    def hangs(self) -> bool:
        size, now, used = os.fstat(self._printed).st_size, time.monotonic(), _processor_seconds(self._child)
        if size != self._size:
            self._size, self._since, self._used = size, now, used
        seconds, share = _ASLEEP
        asleep = now - self._since > seconds and used - self._used < share * (now - self._since)
        return asleep or used - self._used > self._patience


def _processor_seconds(root: int) -> float:
    """Of a process, of all below it, and of those they have waited for."""
    times: dict[int, float] = {}
    below: dict[int, list[int]] = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError):  # it may have ended since
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
            fields = stat.rpartition(")")[2].split()
            times[pid] = sum(map(int, fields[11:15])) / _TICKS
            below.setdefault(int(fields[1]), []).append(pid)
    found = [root]
    for pid in found:
        found += below.get(pid, [])
    return sum(times.get(pid, 0.0) for pid in found)


def _end_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


if __name__ == "__main__":
    _serve()
