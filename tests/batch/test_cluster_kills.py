"""Whatever of a cluster is killed, hangs or is cut off: nothing is lost or counted twice, and grades are the same."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.batch.classes import batch, contents, make_class
from tests.batch.clusters import Cluster, cluster, until, writing, written

STUDENTS = 24
# Twenty rounds; those that make everybody start anew are fewer.
KINDS = (
    *("worker", "writer", "nanny", "worker", "scheduler", "worker", "cut writer", "worker", "worker", "grading"),
    *("worker", "worker", "writer", "cut worker", "hang", "worker", "nanny", "worker", "writer", "scheduler"),
)
SEED = int(os.environ.get("KILL_SEED", "11"))  # others give other moments
_PIDFD_GETFD = 438


class _Disturber:
    """Ends one process of a cluster, or a connection, and does what its administrator would do next."""

    def __init__(self, made: Cluster, chance: random.Random) -> None:
        self._cluster, self._chance = made, chance

    def disturb(self, kind: str, writer: subprocess.Popen[str]) -> None:
        name = self._chance.choice(sorted(self._cluster.workers))
        {
            "worker": lambda: os.kill(self._cluster.worker_process(name), signal.SIGKILL),
            "nanny": lambda: self._kill_nanny(name),
            "scheduler": self._kill_scheduler,
            "writer": lambda: (writer.kill(), writer.wait()),
            "grading": lambda: self._kill_grading(name),
            "hang": lambda: self._hang(name),
            "cut writer": lambda: _cut(writer.pid, self._cluster.address),
            "cut worker": lambda: _cut(self._cluster.worker_process(name), self._cluster.address),
        }[kind]()

    def _kill_nanny(self, name: str) -> None:
        self._cluster.workers[name].kill()
        self._cluster.workers[name].wait()
        self._cluster.start_worker(name)

    def _kill_scheduler(self) -> None:
        assert self._cluster.scheduler is not None
        self._cluster.scheduler.kill()
        self._cluster.close()
        self._cluster.start_scheduler()  # at the same address
        for name in self._cluster.workers:
            self._cluster.start_worker(name)

    def _kill_grading(self, name: str) -> None:
        for child in _grading(self._cluster):
            if child.ppid() == self._cluster.worker_process(name):
                child.kill()

    def _hang(self, name: str) -> None:
        """Long enough to be given up; what it then says comes too late."""
        process = self._cluster.worker_process(name)
        os.kill(process, signal.SIGSTOP)
        time.sleep(8)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)


def _cut(process: int, address: str) -> None:
    """Its connections to the scheduler end, as if somebody had pulled the cable."""
    port = int(address.rpartition(":")[2])
    watched, cut = os.pidfd_open(process), 0
    try:
        for connection in psutil.Process(process).net_connections("tcp"):
            if connection.raddr and connection.raddr.port == port:
                taken = ctypes.CDLL(None).syscall(_PIDFD_GETFD, watched, connection.fd, 0)
                if taken >= 0:  # else it has just been closed
                    with socket.socket(fileno=taken) as theirs, contextlib.suppress(OSError):
                        theirs.shutdown(socket.SHUT_RDWR)
                        cut += 1
    finally:
        os.close(watched)
    if not cut:
        raise ProcessLookupError("there is no connection to cut just now")


def _results(out: Path) -> list[str]:
    """The student of every result that was ever kept."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(out / "gradebook.db")) as base:
        return [student for (student,) in base.execute("SELECT student FROM results")]
    return []


@pytest.mark.slow
def test_twenty_kills_lose_nothing_and_change_no_grade(tmp_path: Path) -> None:
    make_class(tmp_path / "in", STUDENTS)
    assert batch(tmp_path / "in", tmp_path / "undisturbed").returncode == 0
    chance, kinds, rounds = random.Random(SEED), list(KINDS), 0
    with cluster(tmp_path / "machines", "a", "b") as made:
        disturber = _Disturber(made, chance)
        while kinds:  # a class ends before every kill has had its moment: then it is graded once more
            rounds += 1
            out = tmp_path / f"disturbed-{rounds}"
            code, starts = None, 0
            while code != 0:
                starts += 1
                assert starts < len(KINDS), "it does not come to its end"
                resume = ["--resume"] if _results(out) else []
                writer = writing(tmp_path / "in", out, made.address, *resume)
                try:
                    _disturb_while(writer, out, kinds, disturber, chance)
                    code = _ended(writer)
                finally:
                    writer.kill()
            assert sorted(_results(out)) == sorted(set(_results(out)))
            assert contents(out) == contents(tmp_path / "undisturbed")
        until(20, lambda: not _grading(made))  # what killed writers had left on the workers is gone, too


def _grading(made: Cluster) -> list[psutil.Process]:
    nannies = (psutil.Process(process.pid) for process in made.workers.values())
    below = (child for nanny in nannies for child in nanny.children(recursive=True))
    return [child for child in below if "grading_process" in _command(child)]


def _command(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


def _disturb_while(
    writer: subprocess.Popen[str], out: Path, kinds: list[str], disturber: _Disturber, chance: random.Random
) -> None:
    """One kill after another, each after something was graded since the last one; ends with the writer."""
    before = len(_results(out))
    while kinds and writer.poll() is None:
        time.sleep(chance.uniform(0.0, 0.3))
        if (done := len(_results(out))) == before or done >= STUDENTS:
            continue
        with contextlib.suppress(StopIteration, psutil.NoSuchProcess, ProcessLookupError):  # it is being started
            disturber.disturb(kinds[0], writer)
            kinds.pop(0)
            before = done


def _ended(writer: subprocess.Popen[str]) -> int:
    _, said = writer.communicate(timeout=120)
    assert "Traceback" not in said, said
    return writer.returncode


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
