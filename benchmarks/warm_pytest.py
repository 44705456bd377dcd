"""pytest in forks of a process that has the large libraries loaded: a run begins in a tenth of a second, not in four.

with WarmPytest(folder) as warm:
    code, printed = warm.run(["-x", "tests/test_compare.py"], seconds=60)
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
_LIBRARIES = ("hypothesis", "jinja2", "lark", "markdown_it", "nbformat", "numpy", "pydantic", "pytest", "rich.console")
_LIBRARIES += ("sympy", "torch", "typer.testing", "xdist", "yaml")
TOOK_TOO_LONG = -1


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

    def run(self, arguments: list[str], seconds: float) -> tuple[int, str]:
        """Its exit code, or TOOK_TOO_LONG, and what it printed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"arguments": arguments, "seconds": seconds}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return int(answer["code"]), str(answer["printed"])

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


def _serve() -> None:
    for name in _LIBRARIES:
        import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        order = json.loads(line)
        with tempfile.TemporaryFile("w+", errors="replace") as printed:
            code = _run(order["arguments"], order["seconds"], printed.fileno())
            printed.seek(0)
            answers.write(json.dumps({"code": code, "printed": printed.read()}) + "\n")
            answers.flush()


def _run(arguments: list[str], seconds: float, printed: int) -> int:
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
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _end_group(child)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    _end_group(child)
    os.waitpid(child, 0)
    return TOOK_TOO_LONG


def _end_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


if __name__ == "__main__":
    _serve()
