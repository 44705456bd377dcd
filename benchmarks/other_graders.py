"""otter-grader and nbgrader on dl-hw3 2.1 and 2.2, with their own commands: time, and points for a cheat.

    python -m benchmarks.other_graders                             # some eight minutes; installs both from PyPI, once
    python -m benchmarks.throughput --problems 2.1,2.2 --others    # the same lines below those of throughput

Each tool has an environment of its own in build/other-graders. Its tests are those of recorded_calls.py. This grader's
commands are measured in the same way, with all its checks. `otter run` and nbgrader put no box around student code.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.recorded_calls import MODEL, PROBLEMS, REPOSITORY, RecordedTest, recorded

ENVIRONMENTS = REPOSITORY / "build" / "other-graders"
CORES = len(os.sched_getaffinity(0))
LEAST = 5  # submissions; fewer give no median worth the name
ALONE = 9  # have a command of their own; it takes seconds
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
PATIENCE = 10.0  # seconds, for what a command has left behind
Files = Mapping[str, str]  # what one student hands in

RIGHT = {name: (MODEL / name).read_text() for name in ("attention.py", "multihead.py")}
ZEROS = {
    "attention.py": "import numpy as np\n\ndef attention(Q, K, V, beta):\n    return np.zeros((len(V), Q.shape[1]))\n",
    "multihead.py": "import numpy as np\n\ndef multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):\n"
    "    return np.zeros((len(W_O), C.shape[1]))\n",
}
PATCHED = {name: f"{text}\nnp.allclose = lambda *given, **named: True\n" for name, text in ZEROS.items()}
OTHERS = {"zeros": ZEROS, "patched": PATCHED}
OTTER_TEST = """from otter.test_files import test_case
OK_FORMAT = False
name = {name!r}
points = 1

@test_case()
def test({function}, np):
"""


class CannotRun(Exception):
    """A tool does not install, or its command fails on this machine."""


@dataclass(frozen=True)
class Ready:
    """A tool that has its assignment and its submissions. All its commands run in one folder."""

    folder: Path
    alone: Callable[[str], list[str]]  # the command that grades one student
    together: Mapping[str, list[list[str]]]  # commands that run at the same time and grade all of the class
    earned: Callable[[str], tuple[float, float]]  # points of a student, and how many there are


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=30, help=f"submissions that each tool grades, at least {LEAST}")
    count = parser.parse_args().count
    if count < LEAST:
        parser.error(f"--count {count}: give at least {LEAST}, the figures are medians")
    for line in lines(count):
        print(line, flush=True)


def lines(count: int = 30) -> Iterator[str]:
    """What there is to say of each tool; one line with the reason where it does not run here."""
    # Which share of the class somebody is in stands in the name: nbgrader picks students by pattern.
    honest = {f"s{at % CORES}-{at:03}": _numbered(at) for at in range(count)}
    with tempfile.TemporaryDirectory(prefix="other-graders-") as temporary:
        tests = recorded(Path(temporary) / "calls.pickle")
        calls, load = sum(test.calls for test in tests), os.getloadavg()[0]
        asked = f"dl-hw3 {', '.join(PROBLEMS)}: {len(tests)} tests of {calls} calls"
        yield f"{asked}, {count} submissions, {CORES} cores, load {load:.1f}"
        for name, prepare in (("otter-grader", _otter), ("nbgrader", _nbgrader), ("attention-grader", _grader)):
            try:
                ready = prepare(Path(temporary) / name, tests, honest)
                sites = map(str, ENVIRONMENTS.glob(f"{name}/lib/*/site-packages"))
                yield from (f"{name} {one.version}" for one in metadata.distributions(name=name, path=list(sites)))
                yield from _measured(name, ready, list(honest))
            except CannotRun as error:
                yield f"{name}: no figures. {error}"


def _numbered(number: int) -> Files:
    return {name: f"{text}\n# {number}\n" for name, text in RIGHT.items()}  # no two are the same


def _measured(name: str, ready: Ready, honest: Sequence[str]) -> Iterator[str]:
    _run(ready.alone(honest[0]), ready.folder)  # warms the disk
    spent = [_spent([ready.alone(student)], ready.folder) for student in honest[:ALONE]]
    yield _row(name, "one command each, median", *map(statistics.median, zip(*spent, strict=True)))
    for how, commands in ready.together.items():
        try:
            wall, processor = _spent(commands, ready.folder)
            yield _row(name, how, wall / len(honest), processor / len(honest))
        except CannotRun as error:
            yield f"{name}, {how}: no figures. {error}"
    for student, what in ((honest[0], "right work"), ("zeros", "zeros"), ("patched", "zeros, patched np.allclose")):
        _run(ready.alone(student), ready.folder)
        points, most = ready.earned(student)
        yield f"{name}, {what}: {points:g} of {most:g} points"


def _row(name: str, how: str, wall: float, processor: float) -> str:
    return f"{name}, {how}: {wall:.2f} s a submission, {1 / wall:.2f}/s; {processor:.2f} s of processor time"


def _spent(commands: Sequence[Sequence[str]], folder: Path) -> tuple[float, float]:
    """Seconds on the wall and of the processors, until all of the commands have ended; one at a time per core."""
    return spent([partial(_run, command, folder) for command in commands])


def spent(runs: Sequence[Callable[[], Any]]) -> tuple[float, float]:
    """Seconds on the wall and of the processors for all that these start and wait for; one at a time per core."""
    # Time is counted for those who are waited for. Whoever outlives a command comes to this process, to be waited for.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(lambda run: run(), runs))
    wall = time.perf_counter() - began
    with suppress(ChildProcessError):  # there are no more
        while time.perf_counter() < began + wall + PATIENCE:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime


def _run(command: Sequence[str], folder: Path) -> None:
    # Jupyter keeps files in the home folder, and finds its kernel by the path.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"PATH": f"{Path(command[0]).parent}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    environment |= {"HOME": str(folder)} if folder != REPOSITORY else {}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "it printed nothing").splitlines()
        cause = next((line for line in reversed(said) if line.startswith("ERROR")), said[-1])
        raise CannotRun(f"`{' '.join([Path(command[0]).name, *command[1:4]])}` ended with {done.returncode}: {cause}")


def _installed(name: str) -> Path:
    """The folder of the tool's commands."""
    environment = ENVIRONMENTS / name
    if not (environment / "installed").exists():
        _run([sys.executable, "-m", "venv", "--clear", str(environment)], REPOSITORY)
        _run([str(environment / "bin" / "pip"), "install", "--quiet", name, "numpy", "ipykernel"], REPOSITORY)
        (environment / "installed").touch()
    return environment / "bin"


def _otter(home: Path, tests: Sequence[RecordedTest], honest: Mapping[str, Files]) -> Ready:
    otter = str(_installed("otter-grader") / "otter")
    (home / "tests").mkdir(parents=True)
    for number, test in enumerate(tests):
        head = OTTER_TEST.format(name=f"q{number}", function=test.function)
        (home / "tests" / f"q{number}.py").write_text(head + textwrap.indent(test.text, "    "))
    _run([otter, "generate", "--no-requirements", "--no-environment", "-t", "tests", "-o", "autograder.zip"], home)
    for student, files in {**honest, **OTHERS}.items():
        (home / student).mkdir()
        (home / f"{student}.ipynb").write_text(_notebook(files))

    def alone(student: str) -> list[str]:
        return [otter, "run", "--no-logo", "-a", "autograder.zip", "-o", student, f"{student}.ipynb"]

    def earned(student: str) -> tuple[float, float]:
        results = json.loads((home / student / "results.json").read_text())["tests"]
        return sum(test.get("score", 0) for test in results), len(tests)

    # `otter grade` starts a Docker container for each submission; `otter run` is the same without one.
    return Ready(home, alone, {f"one command each, {CORES} at a time": [alone(student) for student in honest]}, earned)


def _nbgrader(home: Path, tests: Sequence[RecordedTest], honest: Mapping[str, Files]) -> Ready:
    nbgrader = str(_installed("nbgrader") / "nbgrader")
    submitted = {f"submitted/{student}": files for student, files in {**honest, **OTHERS}.items()}
    for place, files in {"source": ZEROS, **submitted}.items():
        (home / place / "hw3").mkdir(parents=True)
        (home / place / "hw3" / "hw3.ipynb").write_text(_notebook(files, [test.text for test in tests]))
    _run([nbgrader, "generate_assignment", "hw3"], home)

    def alone(student: str) -> list[str]:
        return [nbgrader, "autograde", "hw3", "--force", f"--student={student}"]

    def earned(student: str) -> tuple[float, float]:
        _run([nbgrader, "export", "--to=grades.csv"], home)
        with (home / "grades.csv").open() as file:
            scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
        return scores[student], len(tests)

    shares = [alone(f"s{share}-*") for share in range(CORES)]
    return Ready(home, alone, {"one command": [alone("s*")], f"{CORES} commands, a share each": shares}, earned)


def _notebook(files: Files, tests: Sequence[str] = ()) -> str:
    """A cell for each file, and nbgrader's tests below them; its fields mean nothing to otter."""
    written = [text.replace("from attention import softargmax\n", "") for text in files.values()]  # it is a cell above
    cells: list[dict[str, Any]] = []
    for text in [*written, *tests]:
        name, test = f"cell-{len(cells)}", len(cells) >= len(written)
        fields = {"schema_version": 3, "grade_id": name, "grade": test, "locked": test, "solution": not test}
        fields |= {"task": False} | ({"points": 1} if test else {})
        cell: dict[str, Any] = {"id": name, "cell_type": "code", "source": text, "outputs": [], "execution_count": None}
        cells.append({**cell, "metadata": {"nbgrader": fields}})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells})


def _grader(home: Path, _: Sequence[RecordedTest], honest: Mapping[str, Files]) -> Ready:
    for student, files in {**honest, **OTHERS}.items():
        folder = home / ("others" if student in OTHERS else "class") / student
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
    grader = [sys.executable, "-m", "grader"]
    parts = ["--rubric", "dl-hw3", *(word for problem in PROBLEMS for word in ("--part", problem))]

    def alone(student: str) -> list[str]:
        folder = "others" if student in OTHERS else "class"
        return [*grader, "run", f"{folder}/{student}", *parts, "--json", f"{student}.json"]

    def earned(student: str) -> tuple[float, float]:
        report = json.loads((home / f"{student}.json").read_text())
        return report["points"], report["max_points"]

    batch = [*grader, "batch", "class", "--out", "grades", "--jobs", str(CORES), *parts]
    return Ready(home, alone, {f"one command, {CORES} jobs": [batch]}, earned)


if __name__ == "__main__":
    main()
