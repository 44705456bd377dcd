"""Whatever is killed, and wherever the disk ends: nothing graded is lost, and grades come out the same."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.batch.gradebook import Gradebook
from tests.batch.classes import COMMAND, ENVIRONMENT, RUBRIC, batch, contents, make_class
from tests.conftest import REPOSITORY
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.long

# KILLS=24 repeats the whole trial, which takes minutes; the suite makes a short one of it.
KILLS = int(os.environ.get("KILLS", "6"))
STUDENTS = 10 * KILLS
# How far below the grader each kind of process is: grader → nursery → job → stand-in → fork server → box.
DEPTH = {"grader": 0, "nursery": 1, "job": 2, "fork server": 4, "box": 5}


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(int(stat.parent.name))
    return found


def _below(process: int, depth: int) -> list[int]:
    level, children = [process], _children()
    for _ in range(depth):
        level = [child for one in level for child in children.get(one, [])]
    return level


def _graded(out: Path) -> int:
    if not (out / "gradebook.db").exists():
        return 0
    with Gradebook(out) as gradebook:
        return len(gradebook.students())


@contextlib.contextmanager
def _running(submissions: Path, out: Path) -> Iterator[subprocess.Popen[bytes]]:
    resume = ["--resume"] if _graded(out) else ["--rubric", str(RUBRIC)]
    command = [*COMMAND, "batch", str(submissions), "--out", str(out), "--jobs", "2", *resume]
    null = subprocess.DEVNULL
    running = subprocess.Popen(command, env=ENVIRONMENT, cwd=REPOSITORY, stdout=null, stderr=null)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


@pytest.mark.slow
def test_kills_at_random_moments_change_no_grade(tmp_path: Path) -> None:
    make_class(tmp_path / "in", STUDENTS)
    assert batch(tmp_path / "in", tmp_path / "undisturbed", "--jobs", "2").returncode == 0
    chance, killed, rounds = random.Random(7), list[str](), 0
    # More of what costs no new start; the grader itself often enough.
    kinds = ["grader", "fork server", "box", "job", "nursery", "box"] * (KILLS // 6)
    while kinds:  # a quick machine is done before every kill has had its moment: then the class is graded once more
        rounds += 1
        out = tmp_path / f"disturbed-{rounds}"
        over = False
        while kinds and not over:
            before = _graded(out)
            with _running(tmp_path / "in", out) as running:
                while kinds and running.poll() is None:
                    time.sleep(chance.uniform(0.0, 0.4))
                    done = _graded(out)
                    if done == before:  # no moment of grading yet since it started, or since the last kill
                        continue
                    if found := _below(running.pid, DEPTH[kinds[0]]):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(chance.choice(found), signal.SIGKILL)
                            killed.append(kinds.pop(0))
                            before = done
                over = running.poll() == 0
        resumed = batch(tmp_path / "in", out, "--resume", "--jobs", "2")
        assert resumed.returncode == 0, resumed.stderr
        assert contents(out) == contents(tmp_path / "undisturbed")
    assert len(killed) == KILLS


def _on_a_disk(size: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script where /mnt is a file system of its own; only the script and its children see it."""
    inside = f"mount -t tmpfs -o size={size} none /mnt && {script}"
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", inside],
        env=ENVIRONMENT,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def _batch_on_mnt(submissions: Path, more: str = "") -> str:
    return f"{' '.join(COMMAND)} batch {submissions} --out /mnt/grades --rubric {RUBRIC} --jobs 1 {more}"


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 40)
    keep = f"cp -r /mnt/grades {tmp_path}/out"
    done = _on_a_disk("400k", f"{_batch_on_mnt(tmp_path / 'in')}; echo code $?; {keep}")
    assert "code 2" in done.stdout, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "disk is full" in done.stderr or "No space left" in done.stderr
    kept = _graded(tmp_path / "out")
    assert 0 < kept < 40
    again = batch(tmp_path / "in", tmp_path / "out")
    assert f"{kept} unchanged" in again.stdout
    assert batch(tmp_path / "in", tmp_path / "whole").returncode == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.slow
def test_a_read_only_folder_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 2)
    assert batch(tmp_path / "in", tmp_path / "out").returncode == 0
    before = contents(tmp_path / "out")
    make_class(tmp_path / "more", 4)
    fill = f"mkdir /mnt/grades && cp {tmp_path}/out/* /mnt/grades && mount -o remount,ro /mnt"
    done = _on_a_disk("2m", f"{fill} && {_batch_on_mnt(tmp_path / 'more')}; echo code $?")
    assert "code 2" in done.stdout, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "/mnt/grades" in done.stderr
    new = _on_a_disk("2m", f"mount -o remount,ro /mnt && {_batch_on_mnt(tmp_path / 'more')}; echo code $?")
    assert "code 2" in new.stdout
    assert new.stderr == "grader: /mnt/grades: no grades can be kept here: Read-only file system\n"
    assert contents(tmp_path / "out") == before
