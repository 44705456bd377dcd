"""How long the grader takes to start, and what one more box costs.

    python -m benchmarks.startup

Every command is run in turn with `import torch` and `import numpy`, so that a machine that slows down slows all of
them, and all figures are medians. Processor time counts every process of a command; it is what says something on a busy
machine, where wall time says how many others there are. Commands run as they are installed: with their bytecode kept.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.model import Limits
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission

REPOSITORY = Path(__file__).resolve().parent.parent
ADA = REPOSITORY / "submissions" / "ada"
ALICE = REPOSITORY / "submissions" / "alice"
ROUNDS = 7
BOXES = 40

_PYTHON = [sys.executable, "-u"]
_RUN = [*_PYTHON, "-m", "grader", "run", str(ADA), "--rubric"]
_CHECK = [*_PYTHON, "-m", "grader", "check"]
COMMANDS = {
    "import torch": [*_PYTHON, "-c", "import torch"],
    "import numpy": [*_PYTHON, "-c", "import numpy"],
    "run, torch rubric": [*_RUN, str(REPOSITORY / "tests" / "rubrics" / "torch-blocks" / "rubric.yaml")],
    "run, numpy problems": [*_RUN, "dl-hw3", "--part", "2.1", "--part", "2.2"],
    "run, all of dl-hw3": [*_RUN, "dl-hw3"],
    "check ada": [*_CHECK, str(ADA)],  # formulas, numpy and torch
    "check alice": [*_CHECK, str(ALICE)],  # and beside them files of predictions and thousands of drawn items
    "--help": [*_PYTHON, "-m", "grader", "--help"],
}
# What each should stay within, from the seconds of `import torch` and `import numpy`.
BARS: dict[str, Callable[[float, float], float]] = {
    "run, torch rubric": lambda torch, numpy: 1.3 * torch,
    "run, numpy problems": lambda torch, numpy: 4 * numpy + 0.5,
    "check ada": lambda torch, numpy: 2 * torch,
    "check alice": lambda torch, numpy: 2 * torch,
    "--help": lambda torch, numpy: 0.3,
}
FIRST_LINE_SECONDS = 0.6


@dataclass(frozen=True)
class Ran:
    processor: float
    wall: float
    first_line: float
    form: float  # when the faults of form were told; 0.0 where there are none
    judged: float  # when the first problem was


def main() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.setdefault("GRADER_SECRET", "0123456789abcdef0123456789abcdef")
    ran: dict[str, list[Ran]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS + 1):
        for name, command in COMMANDS.items():
            ran[name].append(_run(command, environment))
    middle = {name: _median(runs[1:]) for name, runs in ran.items()}  # the first round warms the disk
    torch, numpy = middle["import torch"], middle["import numpy"]
    print(
        f"Start, medians of {ROUNDS} taking turns, load {os.getloadavg()[0]:.1f}: processor time (bar), wall time (bar)"
    )
    for name, one in middle.items():
        said = []
        for spent, at_torch, at_numpy in (
            (one.processor, torch.processor, numpy.processor),
            (one.wall, torch.wall, numpy.wall),
        ):
            bar = f" (bar {BARS[name](at_torch, at_numpy):.2f})" if name in BARS else ""
            said.append(f"{spent:.2f} s = {spent / at_torch:.2f} × torch, {spent / at_numpy:.1f} × numpy{bar}")
        print(f"  {name}: {'; '.join(said)}")
    for name in ("check ada", "check alice"):
        one = middle[name]
        print(f"  {name}: first line {one.first_line:.2f} s (bar {FIRST_LINE_SECONDS}),", end=" ")
        print(f"faults of form {one.form:.2f} s, first problem judged {one.judged:.2f} s: wall time")
    print(f"One more box, medians of {BOXES}: fork, jail, import the student's file, one call, end")
    for libraries in (("numpy",), ("numpy", "torch")):
        print(f"  with {' and '.join(libraries)} loaded: {1000 * _one_more_box(libraries):.1f} ms")


def _run(command: list[str], environment: dict[str, str]) -> Ran:
    began = time.perf_counter()
    told: dict[str, float] = {}
    started = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    for line in started.stdout:
        now = time.perf_counter() - began
        told.setdefault("first", now)
        if line.startswith("Form:"):
            told.setdefault("form", now)
        if " / " in line:
            told.setdefault("judged", now)
    _, status, usage = os.wait4(started.pid, 0)
    wall = time.perf_counter() - began
    started.returncode = os.waitstatus_to_exitcode(status)
    assert started.returncode == 0, command
    processor = usage.ru_utime + usage.ru_stime
    return Ran(processor, wall, told.get("first", 0.0), told.get("form", 0.0), told.get("judged", 0.0))


def _median(runs: list[Ran]) -> Ran:
    fields = zip(*((one.processor, one.wall, one.first_line, one.form, one.judged) for one in runs), strict=True)
    return Ran(*map(statistics.median, fields))


def _one_more_box(libraries: tuple[str, ...]) -> float:
    scores = np.ones((3, 4))
    with open_submission(ADA) as submission, BoxRunner(libraries) as runner:

        def box() -> float:
            began = time.perf_counter()
            with runner.open(submission, Limits(), seed=0) as student:
                student.call("attention.py", "softargmax", scores, 1.0)
            return time.perf_counter() - began

        box_times = [box() for _ in range(BOXES + 3)]
    return statistics.median(box_times[3:])


if __name__ == "__main__":
    main()
