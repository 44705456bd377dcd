"""How long a batch says it will take, and whom it says it is at."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.commands import _told
from grader.batch.pace import Pace
from grader.batch.running import Order, Tally, run_batch
from tests.batch.classes import RUBRIC, make_class


def test_time_left_follows_from_what_the_last_ones_took() -> None:
    pace = Pace(jobs=2)
    for seconds in (30.0, 40.0):  # the first one of each job waits for libraries
        pace.count(seconds)
        assert pace.seconds_left(100) is None
    for seconds in (1.0, 3.0):
        pace.count(seconds)
    assert (pace.per_second, pace.seconds_left(100)) == (1.0, 100.0)
    for _ in range(10_000):
        pace.count(4.0)
    assert pace.seconds_left(100) == 200.0, "ten thousand later, nothing is left of a quicker hour, or in memory"


def test_the_bar_counts_whoever_could_not_be_graded() -> None:
    tally = Tally(10, done=6, ungraded=4)
    tally.how.update({"graded": 1, "not opened": 2, "given up": 3})
    assert _told(tally)["description"] == "5 failed, 4 ungraded"


def test_the_bar_names_some_of_those_at_work_as_they_are_called() -> None:
    tally = Tally(10_000, done=4_000, at_work=("ada", "[/bold]", "cy"))
    tally.pace.count(9.0)
    assert _told(tally)["left"] == ""
    tally.pace.count(0.5)
    told = _told(tally)
    assert (told["rate"], told["left"], told["at_work"]) == ("2.0/s", "0:50:00 left", "ada, [/bold], 1 more")


@pytest.mark.slow
def test_what_the_gradebook_had_already_promises_no_speed(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 4)
    order = Order(tmp_path / "in", tmp_path / "out", 1, rubric=str(RUBRIC))
    seen: list[tuple[int, tuple[str, ...], bool]] = []
    pages: list[None] = []

    def watch(tally: Tally) -> None:
        seen.append((tally.done, tally.at_work, tally.seconds_left is not None))

    run_batch(order, lambda found: None, watch, lambda: pages.append(None))
    names = [("s000",), ("s001",), ("s002",), ("s003",), ()]
    assert seen == [(0, (), False), *((done, names[done], done > 1) for done in range(5))]
    assert len(pages) == 4
    seen.clear()
    assert run_batch(order, lambda found: None, watch).how == {"unchanged": 4}
    assert [known for _, _, known in seen] == [False] * 6
