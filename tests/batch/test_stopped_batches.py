"""A batch that was stopped: whoever is not graded yet is called so everywhere, and nobody's zero is final."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.batch.gradebook import Gradebook
from tests.batch.classes import COMMAND, ENVIRONMENT, RIGHT, RUBRIC, batch, grader, make_class
from tests.conftest import REPOSITORY
from tests.report.made_reports import Page
from tests.waiting import PATIENCE_SECONDS, until

CLASS, ABSENT = 40, "zoe"


def _heeds_ctrl_c() -> None:
    """What is started in the background of a shell ignores Ctrl-C, and so do its children unless told otherwise."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _graded(out: Path) -> set[str]:
    if not (out / "gradebook.db").exists():
        return set()
    with Gradebook(out) as gradebook:
        return set(gradebook.students())


def _has_begun(out: Path) -> bool:
    if not (out / "gradebook.db").exists():
        return False
    with Gradebook(out) as gradebook:
        return gradebook.last_run() is not None


def stopped(folder: Path, number: signal.Signals, moment: Callable[[Path], bool]) -> tuple[int, str, str]:
    """A batch that gets the signal at this moment: its exit code and what it printed."""
    make_class(folder / "in", CLASS)
    students = [f"s{number:03}" for number in range(CLASS)] + [ABSENT]
    (folder / "roster.csv").write_text("student\n" + "\n".join(students) + "\n")
    out = folder / "out"
    command = [*COMMAND, "batch", folder / "in", "--out", out, "--rubric", RUBRIC, "--jobs", "1"]
    running = subprocess.Popen(
        [*command, "--roster", folder / "roster.csv"],
        env=ENVIRONMENT,
        cwd=REPOSITORY,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_heeds_ctrl_c,
    )
    until(lambda: moment(out) or running.poll() is not None)
    os.killpg(running.pid, number)
    said, complained = running.communicate(timeout=PATIENCE_SECONDS)
    assert "Traceback" not in complained, complained
    return running.returncode, said, complained


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_whoever_is_not_graded_yet_is_neither_absent_nor_final(tmp_path: Path, how: signal.Signals) -> None:
    out = tmp_path / "out"
    code, said, complained = stopped(tmp_path, how, lambda out: len(_graded(out)) >= 3)
    graded = _graded(out)
    waiting = sorted({f"s{number:03}" for number in range(CLASS)} - graded)
    assert len(graded) >= 3
    assert waiting
    if how is signal.SIGINT:
        assert code == 130
        assert said.startswith(f"{len(graded)} of {CLASS} submissions: "), "as many as the gradebook has"
        assert f"stopped with {len(waiting)} to go" in said
        assert f"not handed in: {ABSENT}\n" in complained
    status = grader("status", out).stdout
    assert f"Not graded yet: {len(waiting)} of {CLASS} submissions." in status
    assert "Nothing is open" not in status
    assert f"Next: grader batch SUBMISSIONS --out {out} --resume" in status
    assert f"not handed in: {ABSENT}\n" in status
    assert re.search(rf"not graded yet: {waiting[0]}\b", status)
    for student, state in ((waiting[0], "not graded yet"), (ABSENT, "not handed in")):
        assert state in grader("status", out, "--student", student).stdout

    refused = grader("export", out, "--to", "csv", "--final-only")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "not graded yet" in refused.stderr
    exported = grader("export", out, "--to", "csv")
    rows = {row["student"]: row for row in csv.DictReader(exported.stdout.splitlines())}
    assert {name for name, row in rows.items() if row["handed_in"] == "not graded yet"} == set(waiting)
    assert {(rows[name]["points"], rows[name]["provisional"]) for name in waiting} == {("", "yes")}
    assert (rows[ABSENT]["points"], rows[ABSENT]["provisional"]) == ("0", "no")
    refused = grader("override", waiting[0], "1.a", "1", "--by", "Kim", "--why", "x", "--out", out)
    assert (refused.returncode, "not graded yet" in refused.stderr) == (2, True)

    assert grader("report", out).returncode == 0
    page = Page((out / "index.html").read_text()).text
    assert f"{len(graded)} submissions" in page
    assert f"{waiting[0]} 0 / 5 0 of 2 not graded yet" in page
    table = {row["student"]: row for row in csv.DictReader((out / "gradebook.csv").open())}
    assert (table[waiting[0]]["points"], table[waiting[0]]["handed_in"]) == ("", "not graded yet")
    assert batch(tmp_path / "in", out, "--resume").returncode == 0
    assert "not graded yet" not in grader("status", out).stdout
    assert len(_graded(out)) == CLASS


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_batch_stopped_before_anybody_is_graded_says_so_in_one_line(tmp_path: Path, how: signal.Signals) -> None:
    out = tmp_path / "out"
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "in" / "a" / "attention.py").write_text(f"import time\ntime.sleep(3600)\n{RIGHT}")  # keeps the only job
    stopped(tmp_path, how, _has_begun)
    assert not _graded(out)
    for command in (("export", out, "--to", "csv"), ("report", out), ("status", out, "--student", "a")):
        done = grader(*command)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "nothing is graded yet" in done.stderr
    status = grader("status", out).stdout
    assert f"Not graded yet: {CLASS + 1} of {CLASS + 1} submissions." in status


@pytest.mark.slow
def test_whom_a_batch_found_and_did_not_grade_is_no_zero(tmp_path: Path) -> None:
    """A student who was left out, one who is there twice, and a group whose folder goes by a name of its own."""
    work, out = tmp_path / "in", tmp_path / "out"
    for name in ("ann", "ben", "team"):
        (work / name).mkdir(parents=True)
        (work / name / "attention.py").write_text(f"{RIGHT}# {name}\n")
    (work / "team" / "submission.yaml").write_text("students: [cy, dan]\n")
    (work / "ben.zip").write_bytes(b"PK")
    roster = tmp_path / "roster.csv"
    roster.write_text("student\nann\nben\ncy\ndan\neve\n")
    batch(work, out, "--roster", roster, "--skip", "team")
    exported = grader("export", out, "--to", "csv")
    rows = csv.DictReader(exported.stdout.splitlines())
    states = {row["student"]: row["handed_in"] for row in rows}
    assert states == {"ann": "", **dict.fromkeys(("ben", "cy", "dan"), "not graded yet"), "eve": "not handed in"}
    assert grader("export", out, "--to", "csv", "--final-only").returncode == 2
    (work / "ben.zip").unlink()
    assert batch(work, out).returncode == 0
    assert grader("export", out, "--to", "csv", "--final-only").returncode == 0


@pytest.mark.slow
def test_who_withdraws_a_submission_is_not_waited_for(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 3)
    (tmp_path / "roster.csv").write_text("student\ns000\ns001\ns002\n")
    batch(tmp_path / "in", tmp_path / "out", "--skip", "s002", "--roster", tmp_path / "roster.csv")
    assert "Not graded yet: 1 of 3 submissions." in grader("status", tmp_path / "out").stdout
    (tmp_path / "in" / "s002" / "attention.py").unlink()
    (tmp_path / "in" / "s002").rmdir()
    batch(tmp_path / "in", tmp_path / "out")
    assert grader("status", tmp_path / "out").stdout.endswith("\nnot handed in: s002\n")


@pytest.mark.slow
def test_two_of_a_class_can_be_graded_alone_and_a_stopped_batch_is_not_forgotten_over_it(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 4)
    batch(tmp_path / "in", tmp_path / "out", "--student", "s000")
    assert "not graded yet" not in grader("status", tmp_path / "out").stdout, "without a roster nobody is missed"
    with Gradebook(tmp_path / "out") as gradebook:
        gradebook.settings.note_found(["s000", "s001", "s002", "s003"], {})
    batch(tmp_path / "in", tmp_path / "out", "--student", "s001")
    assert "Not graded yet: 2 of 4 submissions." in grader("status", tmp_path / "out").stdout
