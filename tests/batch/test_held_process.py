"""What a worker holds clears up behind itself, however it is ended."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from grader.batch.cluster.held_process import HeldProcess, ProcessEnded
from grader.batch.cluster.parcels import hand_in_parcel, rubric_parcel
from grader.batch.finding import HandedIn
from grader.batch.grading import Plan
from grader.rubric.loading import load_rubric
from tests.batch.classes import RUBRIC, make_class
from tests.conftest import DRAW
from tests.waiting import PATIENCE_SECONDS, until


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HeldProcess:
    """One whose memory for files is the folder `memory`."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "worker").mkdir()
    monkeypatch.setattr("grader.submission.opening._MEMORY", str(tmp_path / "memory"))
    plan = Plan(RUBRIC, None, (), DRAW, unsafe=False)
    return HeldProcess(tmp_path / "worker", rubric_parcel(plan, load_rubric(RUBRIC), None).sealed())


def _left_in(tmp_path: Path) -> list[Path]:
    return [*(tmp_path / "memory").iterdir(), *(tmp_path / "worker").iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["close", "rest"])
def test_a_process_that_has_graded_leaves_nothing(held: HeldProcess, tmp_path: Path, ending: str) -> None:
    make_class(tmp_path / "in", 1)
    parcel = hand_in_parcel(HandedIn("s000", tmp_path / "in" / "s000"), None, seen_by_all=False)
    assert held.hello()["layers"]
    assert "refused" not in held.ask(*parcel.sealed(), [])
    assert len(_left_in(tmp_path)) == 2, "a folder on the disk, and one in memory"
    getattr(held, ending)()
    assert _left_in(tmp_path) == []


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_nothing_once_that_is_noticed(held: HeldProcess, tmp_path: Path) -> None:
    make_class(tmp_path / "in", 1)
    parcel = hand_in_parcel(HandedIn("s000", tmp_path / "in" / "s000"), None, seen_by_all=False)
    held.hello()
    assert held._process is not None
    os.killpg(held._process.pid, signal.SIGKILL)
    with pytest.raises(ProcessEnded):
        held.ask(*parcel.sealed(), [])
    assert _left_in(tmp_path) == []


@pytest.mark.slow
def test_a_process_whose_worker_is_killed_leaves_nothing_in_memory(held: HeldProcess, tmp_path: Path) -> None:
    held.hello()
    assert held._process is not None
    assert held._line is not None
    held._line.close()  # which is all it hears of that
    held._process.wait(PATIENCE_SECONDS)
    until(lambda: not [*(tmp_path / "memory").iterdir()])
    held.close()
