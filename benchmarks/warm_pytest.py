"""pytest in forks of a process that is ready to run: a run begins in a tenth of a second, not in twenty.

    warm = WarmPytest(folder)
    warm.run(["tests/test_compare.py::test_equal_arrays_pass"], Swap("grader/compare.py", right, wrong), patience=60)

There are two such processes. One has collected all tests; functions are changed in its forks (changed_functions.py).
The other has only the large libraries loaded: whatever happens while a file of the grader is loaded happens anew.
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
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import pytest

from benchmarks.changed_functions import Functions

# What tests import, but nothing of the project: that is what differs from run to run.
_LIBRARIES = "hypothesis jinja2 lark markdown_it numpy pydantic pytest rich.console sympy torch typer.testing yaml"
HANGS = -1
_NO_TESTS = 5  # pytest's exit code
_ASLEEP = (180.0, 0.01)  # seconds in which no test ends, and a share of one processor: whoever uses less only waits
_LOOK_EVERY = 1.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Swap:
    """The text of a file of the grader, as it should be and as it is."""

    file: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Ended:
    code: int
    failed: str  # the first test that failed, or file that could not be loaded
    why: str = ""

    @property
    def well(self) -> bool:
        return self.code in (0, _NO_TESTS)


class WarmPytest:
    """Runs tests in one folder, one run at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._servers: dict[str, subprocess.Popen[str]] = {}

    def run(self, tests: Sequence[str], swap: Swap | None, patience: float, *, loading: bool = False) -> Ended:
        """Until one fails. HANGS, if no test ends in so many seconds of the processor's time.

        Time on the wall says nothing where other programs run as well. With `loading`, the grader is loaded anew.
        """
        order = {"tests": list(tests), "patience": patience, "swap": asdict(swap) if swap and not loading else None}
        answer = self._ask("load" if loading else "collect", order)
        return Ended(int(answer["code"]), str(answer["failed"]), str(answer["why"]))

    def tests(self) -> dict[str, bool]:
        """All there are, and whether they are slow."""
        return dict(self._ask("collect", {"tests": None})["tests"])

    def close(self) -> None:
        for server in self._servers.values():
            if server.stdin is not None:
                server.stdin.close()
            server.wait()

    def _ask(self, way: str, order: dict[str, Any]) -> dict[str, Any]:
        server = self._servers.get(way) or self._started(way)
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(order) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        if not answer:
            sys.exit("no tests can be asked; `pytest --collect-only -q tests` says what cannot be loaded")
        return dict(json.loads(answer))

    def _started(self, way: str) -> subprocess.Popen[str]:
        # Compiled files are kept: else every process that a test starts would compile the grader.
        environment = {**os.environ, "PYTHONPATH": str(self._folder), "PYTHONDONTWRITEBYTECODE": ""}
        self._servers[way] = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.warm_pytest", way, f"{self._folder}.{way}"],
            cwd=self._folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self._servers[way]


class _Line:
    """Orders and answers, one a line; what tests print goes nowhere."""

    def __init__(self) -> None:
        self._orders, self._answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1):
            os.dup2(nowhere, standard)

    def orders(self) -> Iterator[dict[str, Any]]:
        for line in iter(self._orders.readline, ""):
            yield json.loads(line)

    def answer(self, told: dict[str, Any]) -> None:
        self._answers.write(json.dumps(told) + "\n")
        self._answers.flush()


class _Telling:
    """A line whenever a test ends: who watches sees that the run gets on."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def pytest_runtest_logreport(self, report: Any) -> None:
        why = report.longreprtext.strip().splitlines()[-1:] if report.failed else []
        self._out.write(f"FAILED {report.nodeid}\n{''.join(why)}\n" if report.failed else ".\n")
        self._out.flush()

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._out.write(f"FAILED {report.nodeid}\n")
            self._out.flush()


def _options(temporary: str) -> list[str]:
    return ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={temporary}"]


def _load_each_time(line: _Line, temporary: str) -> None:
    for order in line.orders():
        child, out = _forked()
        if child == 0:
            files = list(dict.fromkeys(test.split("::")[0] for test in order["tests"]))
            os._exit(pytest.main([*_options(temporary), *files], [_Telling(out), _Chosen(order["tests"])]))
        line.answer(_ended(child, out, order["patience"]))


class _Chosen:
    def __init__(self, tests: list[str]) -> None:
        self._tests = tests

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = _in_order(items, self._tests)


def _in_order(items: list[Any], tests: list[str]) -> list[Any]:
    by_id = defaultdict(list)
    for item in items:
        by_id[item.nodeid].append(item)
    return [item for test in tests for item in by_id[test]]


def _collect_once(line: _Line, temporary: str) -> None:
    os._exit(pytest.main([*_options(temporary), "tests"], [_Collected(line)]))


class _Collected:
    """Takes orders where pytest would run all it has collected; the forks run what they are told."""

    def __init__(self, line: _Line) -> None:
        self._line = line

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool | None:
        functions = Functions(Path.cwd())
        for order in self._line.orders():
            if order["tests"] is None:
                marks = {item.nodeid: item.get_closest_marker("slow") is not None for item in session.items}
                self._line.answer({"tests": marks})
                continue
            child, out = _forked()
            if child == 0:
                if order["swap"]:
                    functions.change(**order["swap"])
                session.items = _in_order(session.items, order["tests"])
                session.config.pluginmanager.register(_Telling(out))
                return None  # pytest goes on, here in the fork
            self._line.answer(_ended(child, out, order["patience"]))
        return True


def _forked() -> tuple[int, TextIO]:
    """Its number, none in the fork itself, and a file in which it tells what happens."""
    out = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - both processes hold it
    child = os.fork()
    if child == 0:
        os.setsid()  # so that everything a hanging test started ends with it
    return child, out


def _ended(child: int, out: TextIO, patience: float) -> dict[str, Any]:
    with out:
        code = _watched(child, out.fileno(), patience)
        out.seek(0)
        for line in iter(out.readline, ""):
            if line.startswith("FAILED "):
                return {"code": code, "failed": line.removeprefix("FAILED ").strip(), "why": out.readline().strip()}
        return {"code": code, "failed": "", "why": f"it ended with {code}"}


def _watched(child: int, printed: int, patience: float) -> int:
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


def main() -> None:
    for name in _LIBRARIES.split():
        import_module(name)
    way, temporary = sys.argv[1:]
    {"load": _load_each_time, "collect": _collect_once}[way](_Line(), temporary)


if __name__ == "__main__":
    main()
