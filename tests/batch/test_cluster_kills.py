"""A cluster whose processes are killed: nothing is lost, nothing counts twice, and the same command goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.cluster_kills import KINDS, rounds_of_kills
from tests.batch.classes import CHECKS, RUBRIC, batch, contents, make_class
from tests.batch.clusters import cluster, kept_in, writing, written
from tests.conftest import EVERY_CASE, write_rubric
from tests.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.long


@pytest.mark.slow
def test_kills_hangs_and_cuts_of_every_kind_at_random_moments(tmp_path: Path) -> None:
    rounds_of_kills(tmp_path, seed=11, asked=KINDS if EVERY_CASE else tuple(dict.fromkeys(KINDS)))


# Longer than the scheduler waits for a sign of life of the workers here.
SLOW_TO_LOAD = "import time\ntime.sleep(8)\n"


@pytest.mark.slow
def test_a_worker_that_loads_for_long_is_not_taken_for_dead(tmp_path: Path) -> None:
    """One that comes back is told the rubric while it joins."""
    make_class(tmp_path / "in", 8)
    rubric = write_rubric(tmp_path / "rubric", RUBRIC.read_text(), **{"checks.py": SLOW_TO_LOAD + CHECKS})
    with cluster(tmp_path / "machines", "a") as made:
        asked = ["--rubric", str(rubric)]
        writer = writing(tmp_path / "in", tmp_path / "out", made.address, *asked)
        try:
            until(_some(tmp_path / "out"))
            os.kill(made.worker_process("a"), signal.SIGKILL)
            _, complained = writer.communicate(timeout=PATIENCE_SECONDS)
        finally:
            writer.kill()
    assert (writer.returncode, complained) == (0, "")
    assert len(kept_in(tmp_path / "out")) == 8


@pytest.mark.slow
def test_a_scheduler_that_stays_away_ends_the_batch_in_one_line_and_resume_goes_on(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 12)
    with cluster(tmp_path / "machines", "a") as made:
        writer = writing(tmp_path / "in", tmp_path / "out", made.address)
        try:
            until(_some(tmp_path / "out"))
            assert made.scheduler is not None
            made.scheduler.kill()
            said, complained = writer.communicate(timeout=PATIENCE_SECONDS)
        finally:
            writer.kill()
    kept = len(kept_in(tmp_path / "out"))
    assert writer.returncode == 3
    gone, not_graded = complained.splitlines()
    assert gone == f"grader: {made.address}: the scheduler is gone"
    assert not_graded.count("s0") == 12 - kept
    assert f"{kept} of 12 submissions" in said
    assert f"stopped with {12 - kept} to go: the same command goes on" in said
    done = written(tmp_path / "in", tmp_path / "out", "local:1", "--resume")
    assert f"{kept} unchanged" in done.stdout, done.stderr
    assert batch(tmp_path / "in", tmp_path / "here").returncode == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "here")


def _some(out: Path) -> Callable[[], bool]:
    return lambda: len(kept_in(out)) > 1
