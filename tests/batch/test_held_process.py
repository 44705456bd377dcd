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
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture
def held(tmp_path: Path) -> HeldProcess:
    (tmp_path / "worker").mkdir()
    plan = Plan(RUBRIC, None, (), DRAW, unsafe=False)
    return HeldProcess(tmp_path / "worker", rubric_parcel(plan, load_rubric(RUBRIC), None).sealed())


def _left_in(tmp_path: Path) -> list[Path]:
    return [*(tmp_path / "worker").iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["close", "rest"])
def test_a_process_that_has_graded_leaves_nothing(held: HeldProcess, tmp_path: Path, ending: str) -> None:
    make_class(tmp_path / "in", 1)
    parcel = hand_in_parcel(HandedIn("s000", tmp_path / "in" / "s000"), None, seen_by_all=False)
    assert held.hello()["layers"]
    assert "refused" not in held.ask(*parcel.sealed(), [])
    assert _left_in(tmp_path)
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
def test_a_process_whose_worker_is_killed_leaves_nothing(held: HeldProcess, tmp_path: Path) -> None:
    held.hello()
    assert held._process is not None
    assert held._line is not None
    held._line.close()  # which is all it hears of that
    held._process.wait(PATIENCE_SECONDS)
    held.close()
    assert _left_in(tmp_path) == []
