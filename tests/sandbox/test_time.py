"""Processor time decides: neither computing for long nor a machine that is busy with others counts as waiting."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from grader.errors import TimedOut
from grader.model import Limits
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission

COMPUTES = """
import time

def f(seconds):
    began = time.process_time()
    while time.process_time() < began + seconds:
        pass
    return 1
"""


@pytest.mark.slow
def test_computing_is_not_waiting(boxes: BoxRunner, submission: MakeSubmission) -> None:
    with boxes.open(submission(COMPUTES), Limits(wall_seconds=1), 0) as student:
        assert student.call("work.py", "f", 1.5) == 1


@pytest.mark.slow
def test_waiting_for_a_busy_machine_is_not_waiting(boxes: BoxRunner, submission: MakeSubmission) -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
    try:
        with boxes.open(submission(COMPUTES), Limits(wall_seconds=1), 0) as student:
            assert student.call("work.py", "f", 0.5) == 1
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_the_graders_own_time_between_questions_is_not_the_students(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    with boxes.open(submission(COMPUTES), Limits(wall_seconds=1), 0) as student:
        for _ in range(2):
            assert student.call("work.py", "f", 0.01) == 1
            time.sleep(0.8)


def test_waiting_adds_up_over_the_questions_of_a_check(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission("import time\ndef f(): time.sleep(0.4)")
    requests = [{"function": "f", "args": [], "kwargs": {}}] * 5
    with boxes.open(work, Limits(wall_seconds=1), 0) as student, pytest.raises(TimedOut, match="within 1 s"):
        list(student.probe_each("call", "work.py", requests))
