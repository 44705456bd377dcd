"""Which tests run which lines of the grader: what `make mutants` need not ask.

    Reach(folder, kept_in).of("grader/compare.py", range(40, 42))

Recorded once for each file of tests and kept; recorded again when that file, or one that its tests ran, has changed.
Only what runs in the tests' own process is seen: of a test that starts another, nobody can say what it does not reach.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage, CoverageData

_OUT = "REACH_RECORDS"  # where the plugin writes, which runs in processes that pytest starts
_PROCESSES = ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec")
_IN_BOXES = "grader/sandbox/box/"  # all that runs in a box
_LOADING = ""  # what is run while tests are collected belongs to none of them


@dataclass(frozen=True)
class Test:
    id: str
    slow: bool
    seconds: float
    starts_others: bool  # processes, other than boxes

    @property
    def file(self) -> str:
        return self.id.split("::")[0]


@dataclass
class _Record:
    """What the tests of one file reach."""

    digest: str
    seen: dict[str, str] = field(default_factory=dict)  # files of the grader, as they were
    tests: list[Test] = field(default_factory=list)
    lines: dict[str, dict[int, list[int]]] = field(default_factory=dict)  # file, line: numbers of tests; -1 for loading


class Reach:
    """Of all tests of a repository, those that were recorded; whoever asks has to ask all others in any case."""

    def __init__(self, repository: Path, kept_in: Path) -> None:
        self._repository, self._kept_in = repository, kept_in
        self._digests: dict[str, str] = {}
        self._records: dict[tuple[str, str], _Record] = {}  # of the tests of a file that have a mark
        for path in sorted(kept_in.glob("*.json.gz")):
            told = json.loads(gzip.decompress(path.read_bytes()))
            record = _Record(told["digest"], told["seen"], [Test(*one) for one in told["tests"]])
            record.lines = {
                file: {int(at): found for at, found in lines.items()} for file, lines in told["lines"].items()
            }
            if self._holds(told["file"], record):
                self._records[told["file"], told["marked"]] = record

    def record(self, files: Iterable[str], marked: str, jobs: int) -> None:
        """Runs the tests of these files that are not yet known; their verdicts are not asked for."""
        missing = [file for file in files if (file, marked) not in self._records]
        if missing:
            found = _recorded(self._repository, missing, marked, jobs)
            for file in missing:  # of one without such tests, too
                self._records[file, marked] = found[file]
                self._keep(file, marked, found[file])

    @cached_property
    def tests(self) -> dict[str, Test]:
        return {test.id: test for record in self._records.values() for test in record.tests}

    def of(self, file: str, lines: Collection[int] | None = None) -> set[str]:
        """The tests that run one of these lines, or any line of the file."""
        return {
            record.tests[number].id
            for record in self._records.values()
            for line, numbers in record.lines.get(file, {}).items()
            if lines is None or line in lines
            for number in numbers
            if number >= 0
        }

    def while_loading(self, file: str, lines: Collection[int]) -> bool:
        """Whether collecting the tests runs them already."""
        found = (record.lines.get(file, {}) for record in self._records.values())
        return any(-1 in one.get(line, ()) for one in found for line in lines)

    def _holds(self, file: str, record: _Record) -> bool:
        return record.digest == self._digest(file) and all(self._digest(path) == d for path, d in record.seen.items())

    def _digest(self, file: str) -> str:
        if file not in self._digests:
            place = self._repository / file
            self._digests[file] = hashlib.sha256(place.read_bytes()).hexdigest() if place.is_file() else ""
        return self._digests[file]

    def _keep(self, file: str, marked: str, record: _Record) -> None:
        record.digest = self._digest(file)
        record.seen = {path: self._digest(path) for path in record.lines}
        tests = [[one.id, one.slow, one.seconds, one.starts_others] for one in record.tests]
        told = {"file": file, "marked": marked, "digest": record.digest, "seen": record.seen, "tests": tests}
        told["lines"] = record.lines
        self._kept_in.mkdir(parents=True, exist_ok=True)
        name = f"{file.removesuffix('.py')}.{marked}".replace("/", ".").replace(" ", "-")
        (self._kept_in / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(told).encode(), 5))


def statement_lines(source: str, line: int) -> range:
    """The lines of the statement that begins there; of a block, those of its head."""
    fitting = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt) and node.lineno == line]
    if not fitting:
        return range(line, line + 1)
    body = getattr(fitting[-1], "body", None)
    last = max(line, body[0].lineno - 1) if body else fitting[-1].end_lineno or line
    return range(line, last + 1)


def _recorded(repository: Path, files: Sequence[str], marked: str, jobs: int) -> dict[str, _Record]:
    with tempfile.TemporaryDirectory(prefix="reach-") as temporary:
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no", "-p", "benchmarks.reach"]
        command += ["-p", "no:cacheprovider", "-n", str(jobs), "--dist", "worksteal", "-m", marked, *files]
        environment = {**os.environ, _OUT: temporary, "PYTHONPATH": str(repository)}
        subprocess.run(command, cwd=repository, env=environment, check=False, stdout=sys.stderr)
        records: dict[str, _Record] = defaultdict(lambda: _Record(""))
        for path in sorted(Path(temporary).glob("*.tests")):
            _gather(repository, path, records)
        return records


def _gather(repository: Path, path: Path, records: dict[str, _Record]) -> None:
    """One process's part of what was seen."""
    number: dict[str, int] = {}
    for told in path.read_text(encoding="utf-8").splitlines():
        test = Test(*json.loads(told))
        number[test.id] = len(records[test.file].tests)
        records[test.file].tests.append(test)
    mine = {test.split("::")[0] for test in number}
    data = CoverageData(str(path.with_suffix(".coverage")))
    data.read()
    for measured in data.measured_files():
        file = Path(measured).relative_to(repository).as_posix()
        for line, contexts in data.contexts_by_lineno(measured).items():
            for context in contexts:
                if context == _LOADING:
                    for tests in mine:
                        found = records[tests].lines.setdefault(file, {}).setdefault(line, [])
                        if -1 not in found:
                            found.append(-1)
                elif context in number:
                    tests = context.split("::")[0]
                    records[tests].lines.setdefault(file, {}).setdefault(line, []).append(number[context])


class _Recording:
    """In a process that runs tests."""

    def __init__(self, folder: Path) -> None:
        name = os.environ.get("PYTEST_XDIST_WORKER", "alone")
        self._tests = (folder / f"{name}.tests").open("w", encoding="utf-8")
        self._started = False
        self._coverage = Coverage(
            data_file=str(folder / f"{name}.coverage"), config_file=False, include=["grader/*"], messages=False
        )
        self._coverage.start()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, told: tuple[Any, ...]) -> None:
        if event in _PROCESSES and not self._started:
            self._started = _IN_BOXES not in str(told)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._started, began = False, time.process_time()
        self._coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self._coverage.switch_context(_LOADING)
            slow = item.get_closest_marker("slow") is not None
            seconds = round(time.process_time() - began, 3)
            self._tests.write(json.dumps([item.nodeid, slow, seconds, self._started]) + "\n")

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        self._tests.close()


def pytest_configure(config: pytest.Config) -> None:
    folder = os.environ.get(_OUT)
    distributes = getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput")
    if folder and not distributes:
        config.pluginmanager.register(_Recording(Path(folder)))
