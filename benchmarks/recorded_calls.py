"""The calls that dl-hw3's checks of 2.1 and 2.2 make, with right answers, as tests that other graders can run.

A test makes the calls of one check and compares what comes back with stored answers by `np.allclose`, as teachers do.
It draws no inputs, computes no reference and does not look at the source, all of which the checks themselves do.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.plain_student import PlainStudent, cases
from grader.sandbox.box.probes.probes import PROBES

REPOSITORY = Path(__file__).resolve().parent.parent
MODEL = REPOSITORY / "submissions" / "ada"
PROBLEMS = ("2.1", "2.2")

TEXT = """import pickle
with open({file!r}, "rb") as file:
    calls = pickle.load(file)[{number}]
for args, kwargs, want in calls:
    assert np.allclose({function}(*args, **kwargs), want)
"""


@dataclass(frozen=True)
class RecordedTest:
    """Runs where the student's names are known, with numpy as np."""

    function: str
    calls: int
    text: str


def recorded(file: Path) -> list[RecordedTest]:
    """The tests; the file has their arguments and answers from now on."""
    # In a process of its own, in the student's folder: that is where the checks find the student's modules.
    code = f"from benchmarks.recorded_calls import record; record({str(file)!r})"
    environment = {**os.environ, "PYTHONPATH": f"{MODEL}:{REPOSITORY}"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=MODEL, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [
        RecordedTest(function, calls, TEXT.format(file=str(file), number=number, function=function))
        for number, (function, calls) in enumerate(json.loads(done.stdout))
    ]


def record(file: str) -> None:
    """Write the calls of each check that makes any; print which function they call, and how many there are."""
    tests: list[list[tuple[Any, Any, Any]]] = []
    printed: list[tuple[str, int]] = []
    student = PlainStudent()
    for name, judge in cases(PROBLEMS, student):
        before = len(student.asked)
        assert judge().score == 1, name
        asked = [(path, request) for probe, path, request in student.asked[before:] if probe == "call"]
        if asked:
            tests.append([(one["args"], one["kwargs"], PROBES["call"](file=path, **one)) for path, one in asked])
            printed.append((asked[0][1]["function"], len(asked)))
    Path(file).write_bytes(pickle.dumps(tests))
    print(json.dumps(printed))
