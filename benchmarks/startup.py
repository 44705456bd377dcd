"""How long the grader takes to start, and what one more box costs.

    python -m benchmarks.startup

Times are the medians of runs that take turns, so that a machine that slows down slows all of them.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from grader.model import Limits
from grader.sandbox import BoxRunner
from grader.submission import open_submission

REPOSITORY = Path(__file__).resolve().parent.parent
ADA = REPOSITORY / "submissions" / "ada"
ROUNDS = 7
BOXES = 40
CHECKED = ("ada", "alice")  # formulas, numpy and torch; and beside them files of predictions and 8,000 drawn items

GRADER = [sys.executable, "-m", "grader", "run", str(ADA), "--rubric"]
COMMANDS = {
    "import torch": [sys.executable, "-c", "import torch"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "torch rubric": [*GRADER, str(REPOSITORY / "tests" / "rubrics" / "torch-blocks.yaml")],
    "numpy problems": [*GRADER, "dl-hw3", "--part", "2.1", "--part", "2.2"],
    "all of dl-hw3": [*GRADER, "dl-hw3"],
}


def main() -> None:
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS + 1):
        for name, command in COMMANDS.items():
            seconds[name].append(_timed(partial(_run, command)))
    median = {name: statistics.median(times[1:]) for name, times in seconds.items()}  # the first round warms the disk
    print(f"Cold start, medians of {ROUNDS} runs taking turns")
    for name in ("torch rubric", "numpy problems", "all of dl-hw3"):
        bare = "import numpy" if name.startswith("numpy") else "import torch"
        ratio = median[name] / median[bare]
        print(f"  grader run, {name}: {median[name]:.2f} s = {ratio:.2f} × `python -c '{bare}'` ({median[bare]:.2f} s)")
    print(f"Self-check, medians of {ROUNDS}: faults of form told, first formula judged, all told")
    for sample in CHECKED:
        told = [statistics.median(times) for times in zip(*(_told_after(sample) for _ in range(ROUNDS)), strict=True)]
        ratio = told[-1] / median["import torch"]
        print(f"  {sample}: {told[0]:.2f} s, {told[1]:.2f} s, {told[2]:.2f} s = {ratio:.2f} × `import torch`")
    print(f"One more box, medians of {BOXES}: fork, jail, import the student's file, one call, end")
    for libraries in (("numpy",), ("numpy", "torch")):
        print(f"  with {' and '.join(libraries)} loaded: {1000 * _one_more_box(libraries):.1f} ms")


def _run(command: list[str]) -> None:
    subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, check=True)


def _told_after(sample: str) -> tuple[float, float, float]:
    """Seconds until the form is told, until the first problem that is judged is told, and until all is."""
    began = time.perf_counter()
    command = [sys.executable, "-u", "-m", "grader", "check", str(REPOSITORY / "submissions" / sample)]
    form = first = 0.0
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as check:
        assert check.stdout is not None
        for line in check.stdout:
            now = time.perf_counter() - began
            form = form or (now if line.startswith("Form:") else 0.0)
            first = first or (now if " / " in line else 0.0)
    return form, first, time.perf_counter() - began


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _one_more_box(libraries: tuple[str, ...]) -> float:
    scores = np.ones((3, 4))
    with open_submission(ADA) as submission, BoxRunner(libraries) as runner:

        def box() -> None:
            with runner.open(submission, Limits(), seed=0) as student:
                student.call("attention.py", "softargmax", scores, 1.0)

        box_times = [_timed(box) for _ in range(BOXES + 3)]
    return statistics.median(box_times[3:])


if __name__ == "__main__":
    main()
