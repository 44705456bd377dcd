"""Kills of a cluster's workers, nannies, schedulers and writers at random moments, hangs and cuts: twenty in all.

    python -m benchmarks.cluster_kills             # a minute or two
    python -m benchmarks.cluster_kills --seed 7    # other moments

Nothing may be lost or counted twice, and grades have to be the same. The suite runs it with one seed: `make test` has
one kill of each kind, `make test-all` all twenty.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from tests.batch.classes import batch, contents, make_class
from tests.batch.clusters import Cluster, cluster, kept_in, writing
from tests.waiting import until

STUDENTS = 24
# Twenty rounds; those that make everybody start anew are fewer.
KINDS = (
    *("worker", "writer", "nanny", "worker", "scheduler", "worker", "cut writer", "worker", "worker", "grading"),
    *("worker", "worker", "writer", "cut worker", "hang", "worker", "nanny", "worker", "writer", "scheduler"),
)
_STANDS_STILL_SECONDS = 180
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

    def supervise(self) -> None:
        """Starts what has ended, as systemd or a queue would: a worker ends when its connection is cut, and when the
        scheduler still knows the one before it by its name."""
        for name, process in self._cluster.workers.items():
            if process.poll() is not None:
                self._cluster.start_worker(name)

    def _kill_nanny(self, name: str) -> None:
        self._cluster.workers[name].kill()
        self._cluster.workers[name].wait()

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


def rounds_of_kills(tmp_path: Path, seed: int, asked: Sequence[str] = KINDS) -> None:
    make_class(tmp_path / "in", STUDENTS)
    assert batch(tmp_path / "in", tmp_path / "undisturbed").returncode == 0
    chance, kinds, rounds = random.Random(seed), list(asked), 0
    with cluster(tmp_path / "machines", "a", "b") as made:
        disturber = _Disturber(made, chance)
        while kinds:  # a class ends before every kill has had its moment: then it is graded once more
            rounds += 1
            out = tmp_path / f"disturbed-{rounds}"
            code, starts = None, 0
            while code != 0:
                starts += 1
                assert starts < len(KINDS), "it does not come to its end"
                resume = ["--resume"] if kept_in(out) else []
                writer = writing(tmp_path / "in", out, made.address, *resume)
                try:
                    _disturb_while(writer, out, kinds, disturber, chance)
                    code = _ended(writer, disturber)
                finally:
                    writer.kill()
            assert sorted(kept_in(out)) == sorted(set(kept_in(out)))
            assert contents(out) == contents(tmp_path / "undisturbed")
        until(lambda: not _grading(made))  # what killed writers had left on the workers is gone, too


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
    before, began = len(kept_in(out)), time.monotonic()
    while kinds and writer.poll() is None:
        assert time.monotonic() - began < _STANDS_STILL_SECONDS, f"the batch stands still; {len(kinds)} kills to go"
        time.sleep(chance.uniform(0.0, 0.3))
        disturber.supervise()
        if (done := len(kept_in(out))) == before or done >= STUDENTS:
            continue
        with contextlib.suppress(StopIteration, psutil.NoSuchProcess, ProcessLookupError):  # it is being started
            disturber.disturb(kinds[0], writer)
            kinds.pop(0)
            before, began = done, time.monotonic()


def _ended(writer: subprocess.Popen[str], disturber: _Disturber) -> int:
    began = time.monotonic()
    while writer.poll() is None:
        assert time.monotonic() - began < _STANDS_STILL_SECONDS, "the batch does not come to its end"
        time.sleep(0.2)
        disturber.supervise()
    _, said = writer.communicate()
    assert "Traceback" not in said, said
    return writer.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=11)
    with tempfile.TemporaryDirectory(prefix="cluster-kills-") as folder:
        rounds_of_kills(Path(folder), parser.parse_args().seed)
    print(f"{len(KINDS)} kills: nothing lost, nothing twice, the same grades")


if __name__ == "__main__":
    main()
