"""Jobs that have graded all write students' files side by side: the same files as one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.files import FilesFault, StudentFiles, write_files
from grader.batch.gradebook import Gradebook
from grader.batch.grading import Plan
from grader.batch.jobs import Jobs
from grader.batch.running import Order, run_batch
from grader.grading.randomness import Draw
from tests.batch.classes import RUBRIC, make_class

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    make_class(folder / "in", 5)
    run_batch(Order(folder / "in", folder / "out", 2, rubric=str(RUBRIC)), lambda found: None, lambda tally: None)
    return folder / "out"


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("gradebook.")}


@pytest.mark.parametrize("killed", [0, 1, 2])
def test_jobs_write_what_one_would_even_if_some_are_killed(graded: Path, tmp_path: Path, killed: int) -> None:
    plan = Plan(RUBRIC, None, (), Draw(0, None), False)
    counted: list[None] = []
    with Gradebook(graded) as gradebook, Jobs(plan, 2, tmp_path) as jobs:
        for job in jobs._jobs[:killed]:
            job.process.kill()
        (tmp_path / "again").mkdir()
        assert write_files(gradebook, tmp_path / "again", lambda: counted.append(None), jobs.write) == 5
    assert len(counted) == 5
    found, wanted = _files(tmp_path / "again"), _files(graded)
    assert len(wanted) == 11  # two each, and the class's page
    assert found == wanted


def test_a_page_that_a_job_cannot_write_is_a_fault_in_words(graded: Path, tmp_path: Path) -> None:
    plan = Plan(RUBRIC, None, (), Draw(0, None), False)
    with Jobs(plan, 1, tmp_path) as jobs, pytest.raises(FilesFault, match="cannot be written"):
        list(jobs.write([StudentFiles(tmp_path / "nowhere" / "ann", {})]))


def test_a_large_class_has_its_jobs_write(graded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, asked = _files(graded), list[int]()
    monkeypatch.setattr("grader.batch.running._MANY_PAGES", 5)
    monkeypatch.setattr(Jobs, "write", lambda jobs, several: asked.append(1) or _write(jobs, several))
    order = Order(graded.parent / "in", graded, 2, rubric=str(RUBRIC))
    assert run_batch(order, lambda found: None, lambda tally: None).how == {"unchanged": 5}
    assert asked == [1]
    assert _files(graded) == before


_write = Jobs.write
