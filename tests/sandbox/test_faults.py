"""What a box says of a fault is the student's word: whatever it is, it becomes one line."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from grader.errors import Crashed
from grader.sandbox import BoxRunner
from grader.sandbox.host.fault_messages import Asked, value_of


@pytest.mark.parametrize("file", ["x" * 5_000, "é" * 200, "a\0b.py", "\ud800", "x/" * 3_000, ""])
def test_a_place_that_cannot_be_a_file_is_left_out(tmp_path: Path, file: str) -> None:
    raised = {"type": "ValueError", "text": "no", "file": file, "line": 3}
    with pytest.raises(Crashed, match=r"^attention\(\) in attention\.py raised ValueError$"):
        value_of({"raised": raised}, Asked("attention.py", "attention", tmp_path))


def test_a_fork_server_that_nobody_needs_any_more_is_not_waited_for() -> None:
    """Libraries begin to load before the rubric does: a typo in it is told at once, not when torch is there."""
    with BoxRunner(("numpy",)) as runner:
        runner.start()
        (server,) = runner._servers.values()
        process = server._process
    assert process.returncode == -signal.SIGKILL
