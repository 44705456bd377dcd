"""Jobs come out of one process that has read the rubric; they hold nothing of the grader's, and survive it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.batch.finding import HandedIn
from grader.batch.gradebook import Gradebook
from grader.batch.grading import Plan
from grader.batch.jobs import Jobs
from grader.batch.running import Order, run_batch
from grader.errors import RubricError, StaffFault
from grader.grading.randomness import Draw
from tests.batch.classes import CHECKS, RUBRIC, make_class
from tests.conftest import write_rubric
from tests.waiting import until

pytestmark = pytest.mark.slow
READERS = "import os\nfrom pathlib import Path\nwith open(Path(__file__).with_name('readers'), 'a') as file:\n"


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    """One that notes who reads it."""
    checks = f"{READERS}    file.write(f'{{os.getpid()}}\\n')\n{CHECKS}"
    return write_rubric(tmp_path / "noted", RUBRIC.read_text(), **{"checks.py": checks})


@pytest.fixture
def jobs(rubric: Path, tmp_path: Path) -> Iterator[Jobs]:
    make_class(tmp_path / "in", 6)
    with Jobs(Plan(rubric, None, (), Draw(0, None), False), 3, tmp_path) as jobs:
        yield jobs


def _graded(jobs: Jobs, folder: Path, *numbers: int) -> list[str]:
    waiting = [HandedIn(f"s{number:03}", folder / "in" / f"s{number:03}") for number in numbers]
    return sorted(one.result.how for one in jobs.grade(waiting, lambda student: None) if one.result)


def _children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _nursery(jobs: Jobs) -> int:
    process = jobs._nursery._process
    assert process is not None
    assert process.pid is not None
    return process.pid


def test_a_rubric_is_read_once_for_all_jobs(jobs: Jobs, tmp_path: Path) -> None:
    assert jobs.rubric_name() == "small-class"
    assert _graded(jobs, tmp_path, *range(6)) == ["graded"] * 6
    assert (tmp_path / "noted" / "readers").read_text() == f"{_nursery(jobs)}\n"
    assert len(_children(_nursery(jobs))) == 3


def test_jobs_hold_no_file_of_the_grader_nor_of_each_other(jobs: Jobs, tmp_path: Path) -> None:
    with Gradebook(tmp_path / "out", new=True) as gradebook:
        jobs.rubric_name()
        _graded(jobs, tmp_path, *range(6))
        own = [_sockets(job) for job in _children(_nursery(jobs))]
        assert gradebook.path.exists()
    assert not any("gradebook" in place for places in own for place in places)
    shared = set.intersection(*own) - {"/dev/null"}
    assert not any(place.startswith("socket:") for place in shared), shared


def _sockets(process: int) -> set[str]:
    return {os.readlink(file) for file in Path(f"/proc/{process}/fd").iterdir()}


def test_jobs_outlive_where_they_came_from_and_are_replaced_all_the_same(jobs: Jobs, tmp_path: Path) -> None:
    assert _graded(jobs, tmp_path, 0, 1) == ["graded"] * 2
    before = _nursery(jobs)
    os.kill(before, 9)
    assert _graded(jobs, tmp_path, 2, 3) == ["graded"] * 2
    for job in jobs._jobs:
        job.process.kill()
    assert _graded(jobs, tmp_path, 4, 5) == ["graded"] * 2
    assert _nursery(jobs) != before


def test_one_that_is_killed_while_it_reads_is_begun_again(jobs: Jobs, tmp_path: Path) -> None:
    os.kill(_nursery(jobs), 9)
    assert _graded(jobs, tmp_path, *range(6)) == ["graded"] * 6


def test_nothing_is_left_when_jobs_are_done_with(jobs: Jobs, tmp_path: Path) -> None:
    _graded(jobs, tmp_path, 0, 1)
    processes = [_nursery(jobs), *_children(_nursery(jobs))]
    jobs.__exit__(None, None, None)
    until(lambda: not any(Path(f"/proc/{one}").exists() for one in processes))


def test_a_rubric_that_cannot_be_read_is_told_as_ever(rubric: Path, tmp_path: Path) -> None:
    make_class(tmp_path / "in", 2)
    rubric.write_text(rubric.read_text().replace("points:", "pints:", 1))
    order = Order(tmp_path / "in", tmp_path / "out", 2, rubric=str(rubric))
    with pytest.raises(RubricError, match="pints"):
        run_batch(order, lambda found: None, lambda tally: None)
    with Jobs(Plan(rubric, None, (), Draw(0, None), False), 1, tmp_path) as jobs, pytest.raises(StaffFault):
        _graded(jobs, tmp_path, 0)
