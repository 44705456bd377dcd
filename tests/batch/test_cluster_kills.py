"""A cluster whose scheduler goes away: the batch ends in one line, nothing is lost, and the same command goes on."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.batch.classes import batch, contents, make_class
from tests.batch.clusters import cluster, until, writing, written


def _results(out: Path) -> list[str]:
    """The student of every result that was ever kept."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(out / "gradebook.db")) as base:
        return [student for (student,) in base.execute("SELECT student FROM results")]
    return []


@pytest.mark.slow
def test_a_scheduler_that_stays_away_ends_the_batch_in_one_line_and_resume_goes_on(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 12)
    hasty = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}
    with cluster(tmp_path / "machines", "a") as made:
        writer = writing(tmp_path / "in", tmp_path / "out", made.address, **hasty)
        try:
            until(60, _some(tmp_path / "out"))
            assert made.scheduler is not None
            made.scheduler.kill()
            said, complained = writer.communicate(timeout=60)
        finally:
            writer.kill()
    kept = len(_results(tmp_path / "out"))
    assert writer.returncode == 3
    assert complained.splitlines() == [f"grader: {made.address}: the scheduler is gone"]
    assert f"{kept} of 12 submissions" in said
    assert f"stopped with {12 - kept} to go: the same command goes on" in said
    done = written(tmp_path / "in", tmp_path / "out", "local:1", "--resume")
    assert f"{kept} unchanged" in done.stdout, done.stderr
    assert batch(tmp_path / "in", tmp_path / "here").returncode == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "here")


def _some(out: Path) -> Callable[[], bool]:
    return lambda: len(_results(out)) > 1
