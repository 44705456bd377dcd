"""`grader batch` as a TA types it."""

from __future__ import annotations

import contextlib
import csv
import json
import multiprocessing
import multiprocessing.spawn
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from multiprocessing import Pipe
from pathlib import Path
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from grader import cli, commands
from grader.batch import fingerprints
from grader.batch.finding import HandedIn
from grader.batch.gradebook import Gradebook
from grader.batch.grading import Graded, Grading, Plan
from grader.batch.jobs import Jobs
from grader.batch.nursery import Nursery
from grader.batch.running import rubric_of
from grader.errors import StaffFault, UsageError
from grader.report.html import student_page
from tests.batch.classes import CHECKS, COMMAND, ENVIRONMENT, RUBRIC, WORKS, batch, contents, grader, make_class
from tests.conftest import DRAW, REPOSITORY, write_rubric
from tests.schemas import REPORT
from tests.waiting import PATIENCE_SECONDS, until


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A class of twenty, graded once by two jobs."""
    folder = tmp_path_factory.mktemp("class")
    make_class(folder / "in", 20)
    done = batch(folder / "in", folder / "out", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("20 of 20 submissions: 18 graded, 2 not opened.")
    return folder / "in", folder / "out"


@pytest.mark.slow
def test_everyone_is_graded_and_nothing_broken_stops_the_rest(graded: tuple[Path, Path]) -> None:
    _, out = graded
    rows = {row["student"]: row for row in csv.DictReader((out / "gradebook.csv").open())}
    assert len(rows) == 20
    points = {student: float(row["points"]) for student, row in rows.items()}
    assert (points["s000"], points["s001"], points["s002"], points["s003"]) == (5, 1, 0, 0)
    assert rows["s009"]["provisional"] == "yes"
    report = json.loads((out / "s009.json").read_text())
    assert {problem["status"] for problem in report["problems"]} == {"review"}
    assert report["problems"][0]["checks"][0]["code"] == "not_opened"
    for path in out.glob("*.json"):
        REPORT.validate(json.loads(path.read_text()))


@pytest.mark.slow
def test_the_number_of_jobs_changes_nothing_but_times(graded: tuple[Path, Path], tmp_path: Path) -> None:
    submissions, out = graded
    assert batch(submissions, tmp_path / "out", "--jobs", "1").returncode == 0
    assert contents(tmp_path / "out") == contents(out)


@pytest.mark.slow
def test_a_machine_busy_with_other_work_changes_nothing_but_times(graded: tuple[Path, Path], tmp_path: Path) -> None:
    submissions, out = graded
    with contextlib.ExitStack() as others:
        for _ in range(os.cpu_count() or 1):
            other = others.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            others.callback(other.kill)  # before its own exit, which waits for it
        assert batch(submissions, tmp_path / "out", "--jobs", "2").returncode == 0
    assert contents(tmp_path / "out") == contents(out)


@pytest.mark.slow
def test_a_batch_is_what_run_says_of_each(graded: tuple[Path, Path], tmp_path: Path) -> None:
    submissions, out = graded
    grader("run", submissions / "s001", "--rubric", RUBRIC, "--json", tmp_path / "alone.json")
    alone, together = (json.loads(path.read_text()) for path in (tmp_path / "alone.json", out / "s001.json"))
    assert [p["points"] for p in alone["problems"]] == [p["points"] for p in together["problems"]]
    assert [c["message"] for c in alone["problems"][0]["checks"]] == [
        c["message"] for c in together["problems"][0]["checks"]
    ]


@pytest.mark.slow
def test_only_what_changed_is_graded_again(graded: tuple[Path, Path], tmp_path: Path) -> None:
    submissions, out = (shutil.copytree(folder, tmp_path / folder.name) for folder in graded)
    (submissions / "s001" / "attention.py").write_text(WORKS["right"])
    said = batch(submissions, out).stdout
    assert said.startswith("20 of 20 submissions: 1 graded, 19 unchanged.")
    done = grader("override", "s001", "1.b", "0.5", "--by", "Kim", "--why", "asked twice", "--out", out)
    assert done.stdout.startswith("s001 1.b: 1 → 0.5, by Kim: asked twice\n`grader report ")
    said = batch(submissions, out, "--seed", "1", "--student", "s001", "--student", "s002").stdout
    assert said.startswith("2 of 2 submissions: 2 graded.")
    with Gradebook(out) as gradebook:
        assert [result.report["points"] for result in gradebook.history("s001")] == [1, 5, 5]
    row = next(row for row in csv.DictReader((out / "gradebook.csv").open()) if row["student"] == "s001")
    assert (row["1.a"], row["1.b"], row["points"], row["decided"]) == ("4", "0.5", "4.5", "1.b")


@pytest.mark.slow
def test_one_problem_is_graded_again_and_the_others_stay(graded: tuple[Path, Path], tmp_path: Path) -> None:
    submissions, out = (shutil.copytree(folder, tmp_path / folder.name) for folder in graded)
    batch(submissions, out, "--part", "1.b", "--seed", "3", "--student", "s000")
    report = json.loads((out / "s000.json").read_text())
    assert [(problem["id"], problem["points"]) for problem in report["problems"]] == [("1.a", 4), ("1.b", 1)]
    assert (report["points"], report["max_points"]) == (5, 5)
    batch(submissions, tmp_path / "new", "--part", "1.b", "--student", "s000")
    report = json.loads((tmp_path / "new" / "s000.json").read_text())
    assert (report["points"], report["max_points"]) == (1, 1)


@pytest.mark.slow
def test_new_points_need_no_grading_by_batch_or_by_rescore(graded: tuple[Path, Path], tmp_path: Path) -> None:
    submissions, out = (shutil.copytree(folder, tmp_path / folder.name) for folder in graded)
    text = RUBRIC.read_text()
    text = (
        text.replace("points: 5\n", "points: 9\n")
        .replace("points: 4\n", "points: 8\n")
        .replace("points: 4}", "points: 8}")
    )
    dearer = write_rubric(tmp_path / "dearer", text, **{"checks.py": CHECKS})
    shutil.copytree(out, tmp_path / "by-batch")
    done = grader("rescore", out, "--rubric", dearer)
    assert done.stdout.startswith("20 submissions rescored."), done.stderr
    assert json.loads((out / "s000.json").read_text())["points"] == 9
    dearer.write_text(text.replace("title: ", "title: Now, "))
    assert grader("rescore", out).stdout.startswith("20 submissions rescored."), "by the rubric it was graded with"
    dearer.write_text(text)
    by_batch = ("batch", submissions, "--out", tmp_path / "by-batch", "--rubric", dearer)
    # What could not be opened says the same again: there is nothing in it to rescore.
    assert grader(*by_batch).stdout.startswith("20 of 20 submissions: 2 not opened, 18 rescored.")
    assert (tmp_path / "by-batch" / "gradebook.csv").read_text() == (out / "gradebook.csv").read_text()
    text = text.replace("inputs: column_attention", "inputs: row_attention")
    other = write_rubric(tmp_path / "other", text, **{"checks.py": CHECKS})
    before = contents(out)
    refused = grader("rescore", out, "--rubric", other)
    assert refused.returncode == 2
    assert refused.stderr == (
        "grader: this change needs grading again: s000, 1.a returns_an_array: 'inputs' has changed\n"
    )
    stranger = grader("rescore", out, "--rubric", "dl-hw3")
    assert stranger.returncode == 2
    assert "; dl-hw3 is another assignment" in stranger.stderr
    assert contents(out) == before


@pytest.mark.slow
def test_two_submissions_with_one_id_are_said(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 1)
    shutil.make_archive(str(tmp_path / "in" / "s001"), "zip", tmp_path / "in" / "s000")
    shutil.copy(tmp_path / "in" / "s001.zip", tmp_path / "in" / "s000.zip")
    done = batch(tmp_path / "in", tmp_path / "out")
    assert done.returncode == 3
    assert done.stdout.startswith("1 of 1 submissions: 1 graded.")
    assert "s000 is there more than once (s000 and s000.zip), so none of them is graded" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--student", "s00"], "nothing was handed in by 's00'; did you mean 's000'?"),
        (["--part", "7"], "small-class has no part '7'; it has 1.a, 1.b"),
        (["--resume"], "there is no gradebook"),
        (["--data", "nowhere"], "there is no such folder of data"),
    ],
)
def test_a_batch_that_cannot_be_run_as_asked_is_one_line(tmp_path: Path, more: list[str], said: str) -> None:
    make_class(tmp_path / "in", 1)
    done = batch(tmp_path / "in", tmp_path / "out", *more)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_student_chooses_the_rubric_for_a_class(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 3)
    chosen = [HandedIn(path.name, path) for path in sorted((tmp_path / "in").iterdir())]
    for handed_in in chosen:
        (handed_in.path / "submission.yaml").write_text("rubric: dl-hw3\n")
    assert rubric_of(chosen).parent.name == "dl-hw3"
    (chosen[1].path / "submission.yaml").write_text("rubric: nlp-a5\n")
    with pytest.raises(UsageError, match="with --rubric: s000 is for dl-hw3, s001 is for nlp-a5"):
        rubric_of(chosen)


def _graded(out: Path) -> int:
    if not (out / "gradebook.db").exists():
        return 0
    with Gradebook(out) as gradebook:
        return len(gradebook.students())


def _heeds_ctrl_c() -> None:
    """What is started in the background of a shell ignores Ctrl-C, and so do its children unless told otherwise."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 60)
    command = [*COMMAND, "batch", tmp_path / "in", "--out", tmp_path / "out", "--rubric", RUBRIC, "--jobs", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = subprocess.Popen(
        command, env=ENVIRONMENT, cwd=REPOSITORY, text=True, start_new_session=True, preexec_fn=_heeds_ctrl_c, **pipes
    )  # type: ignore[call-overload]
    until(lambda: _graded(tmp_path / "out") >= 3 or running.poll() is not None)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does it: to all of them
    said, complained = running.communicate(timeout=PATIENCE_SECONDS)
    assert running.returncode == 130
    assert "Traceback" not in complained
    assert "to go: the same command goes on" in said
    until(lambda: not _in_session(running.pid))
    done = batch(tmp_path / "in", tmp_path / "out")
    assert "60 of 60 submissions" in done.stdout
    assert "unchanged" in done.stdout


def _in_session(leader: int) -> list[str]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[3]) == leader:
                found.append(stat.parent.name)
    return found


@pytest.mark.slow
def test_jobs_that_cannot_begin_end_the_batch_with_one_line(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 2)
    plan = Plan(RUBRIC, None, (), DRAW, unsafe=False)
    python = multiprocessing.spawn.get_executable()
    multiprocessing.set_executable("/bin/false")
    try:
        with Jobs(plan, 1, tmp_path) as jobs, pytest.raises(StaffFault, match="jobs end as soon as they begin"):
            list(jobs.grade([HandedIn("s000", tmp_path / "in" / "s000")], lambda student: None))
    finally:
        multiprocessing.set_executable(python)


@pytest.mark.slow
def test_one_bad_hand_in_costs_only_itself(tmp_path: Path) -> None:
    """Also where nobody says which rubric: all that are opened to find out."""
    folder = tmp_path / "in"
    make_class(folder, 2)
    (folder / "hw3.ipynb" / "hw3.ipynb").mkdir(parents=True)  # folders called as notebooks
    cells: dict[str, list[object]] = {
        "no-source": [{"cell_type": "code"}],
        "no-type": [{"source": "x = 1"}],
        "no-cell": [None],
    }
    for name, held in cells.items():
        (folder / name).mkdir()
        made = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": held}
        (folder / name / "hw3.ipynb").write_text(json.dumps(made))
    right = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": WORKS["right"]}
    (folder / "long").mkdir()
    made = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [right]}
    (folder / "long" / f"{'n' * 246}.ipynb").write_text(json.dumps(made))
    for number, name in enumerate(("doe", "doemarried")):
        (folder / f"{name}_4711_{number}_attention.py").write_text(WORKS["right"])
    done = grader("batch", folder, "--out", tmp_path / "out", "--jobs", "1", "--part", "2.1")
    assert done.returncode in (0, 3), done.stderr
    rows = {row["student"]: row for row in csv.DictReader((tmp_path / "out" / "gradebook.csv").open())}
    assert rows.keys() == {"s000", "s001", "hw3.ipynb", "4711", "long", *cells}
    assert rows["long"]["2.1"] == rows["s000"]["2.1"] == "10"


@pytest.mark.slow
def test_what_the_grader_stumbles_over_is_ungraded_and_said_in_the_first_line_of_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_class(tmp_path / "in", 1)

    def stumbles(*_: object) -> str:
        raise KeyError("deep inside")

    monkeypatch.setattr(fingerprints, "of_submission", stumbles)
    with Grading(Plan(RUBRIC, None, (), DRAW, unsafe=False)) as grading:
        graded = grading.grade_one(HandedIn("s000", tmp_path / "in" / "s000"), None)
        assert graded.faults[0].startswith("KeyError: 'deep inside' (test_batches.py:")
        kept_back = grading.grade_one(
            HandedIn("s001", tmp_path / "in", fault="its files cannot be copied (no space)"), None
        )
    for one, said in ((graded, "the grader stumbled over it (KeyError)"), (kept_back, "its files cannot be copied")):
        assert one.result is not None
        assert not one.result.settled
        assert {problem["status"] for problem in one.result.report["problems"]} == {"ungraded"}
        page = student_page(one.result.report)
        assert page.index("<h1>") < page.index(said) < page.index("Not final yet")


def test_run_says_in_one_line_what_it_stumbled_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_class(tmp_path, 1)

    def stumbles(*_: object) -> Path:
        raise ValueError("deep\ninside")

    monkeypatch.setattr(commands, "choose_rubric", stumbles)
    done = CliRunner().invoke(cli.app, ["run", str(tmp_path / "s000")])
    assert done.exit_code == 3
    assert done.stderr.count("\n") == 1
    assert "s000 is ungraded; the fault is the grader's: ValueError: deep inside (test_batches.py:" in done.stderr


class _InThisProcess:
    """A job without a process of its own: a thread answers, and ends like a killed job over the first `bad` one."""

    bad: ClassVar[list[str]] = []

    def __init__(self, nursery: Nursery, workspace: Path) -> None:
        self.line, self._theirs = Pipe()
        self.tasks: deque[HandedIn] = deque()
        self.began_at = 0.0
        self._answering = threading.Thread(target=self._answer)
        self._answering.start()

    def _answer(self) -> None:
        with contextlib.suppress(EOFError), self._theirs:
            while True:
                task, *_ = self._theirs.recv()
                if task.student in self.bad:
                    self.bad.remove(task.student)
                    return
                self._theirs.send(Graded(task, None))

    def close(self) -> None:
        self.line.close()
        self._answering.join()


def test_what_a_job_that_died_had_is_given_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.batch.jobs._Job", _InThisProcess)
    monkeypatch.setattr(_InThisProcess, "bad", ["bob"])
    waiting = [HandedIn(student, tmp_path / student) for student in ("ann", "bob", "cy", "dan")]
    with Jobs(None, 2, tmp_path) as jobs:  # type: ignore[arg-type]
        found = sorted(graded.handed_in.student for graded in jobs.grade(waiting, lambda student: None))
        assert jobs.at_work == ()
    assert found == ["ann", "bob", "cy", "dan"]
