"""Two fork servers come from one process: code that names no torch waits for none, and neither is left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from grader.errors import BoxLost
from grader.model import Limits
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission
from tests.waiting import until

FILES = {
    "light.py": "import sys\ndef f(): return [name in sys.modules for name in ('numpy', 'tor' + 'ch')]\n",
    "heavy.py": "import sys, torch\ndef f(): return [name in sys.modules for name in ('numpy', 'torch')]\n",
}
BOTH, LIGHT = ("numpy", "torch"), ("numpy",)


def _children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _family(process: int) -> list[int]:
    return [process, *(member for child in _children(process) for member in _family(child))]


def _runs(process: int) -> bool:
    """A zombie has ended, and waits for whoever has to look after orphans."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("asked", [(), ("light.py",), ("heavy.py",), ("light.py", "heavy.py", "light.py")])
def test_each_serves_its_own_and_all_end_together(submission: MakeSubmission, asked: tuple[str, ...]) -> None:
    work, before = submission(**FILES), set(_children(os.getpid()))
    with BoxRunner(BOTH) as runner:
        runner.start()
        for file in asked:
            with runner.open(work, Limits(), 0) as student:
                assert student.call(file, "f") == [True, file == "heavy.py"]
        (begun,) = set(_children(os.getpid())) - before
        ready = {libraries for libraries, server in runner._servers.items() if server._ready}
        assert ready == {BOTH if file == "heavy.py" else LIGHT for file in asked}, "light code waits for no torch"
        family = _family(begun)
    until(lambda: not any(map(_runs, family)))
    assert not runner.workspace.exists()


@pytest.mark.slow
def test_where_one_dies_the_other_ends_and_both_come_back(submission: MakeSubmission) -> None:
    with BoxRunner(BOTH) as runner:
        work = submission(**FILES)
        for file in ("light.py", "heavy.py"):
            with runner.open(work, Limits(), 0) as student:
                student.call(file, "f")
        (begun,) = {server._process.pid for server in runner._servers.values()}
        family = _family(begun)
        os.kill(begun, signal.SIGKILL)  # with it goes the one that has loaded torch
        with pytest.raises(BoxLost, match="is gone"), runner.open(work, Limits(), 0) as student:
            student.call("heavy.py", "f")
        until(lambda: not any(map(_runs, family)))
        with runner.open(work, Limits(), 0) as student:
            assert student.call("light.py", "f") == [True, False]
