"""Dask clusters as a course has them: a scheduler and workers, each a process with a folder of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
from distributed import Client

from tests.batch.classes import COMMAND, ENVIRONMENT, RUBRIC
from tests.conftest import REPOSITORY
from tests.waiting import PATIENCE_SECONDS

DASK = [sys.executable, "-m", "dask"]
# What ends a connection soon enough for a test; the defaults are made for large clusters.
SOON = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "20s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "6s",
}
# Dask looks at itself many times a second, whether there is work or not; a test has no use for it.
CALM = {
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "5s",
}


# Runs a command whose kernel, for all that it can tell, has no Landlock.
NO_LANDLOCK = """
import ctypes, os, struct, sys
program = b"".join(struct.pack("=HBBI", *line) for line in [
    (0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)])
lines = ctypes.create_string_buffer(program)
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
header = struct.pack("@HP", len(program) // 8, ctypes.addressof(lines))
assert libc.prctl(22, 2, ctypes.create_string_buffer(header), 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Cluster:
    """A scheduler, and workers that share nothing with the tests but the network."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None, protocol: str = "tcp") -> None:
        self.folder = folder
        self.address = f"{protocol}://127.0.0.1:{free_port()}"
        self.environment = {**ENVIRONMENT, **SOON, **CALM, **(environment or {})}
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.start_scheduler()

    def start_scheduler(self) -> None:
        protocol, _, place = self.address.partition("://")
        options = ["--host", f"{protocol}://127.0.0.1", "--port", place.rpartition(":")[2], "--dashboard-address", ":0"]
        self.scheduler = self._started("scheduler", [*DASK, "scheduler", *options], {})

    def start_worker(
        self, name: str, *more: str, hidden: Path | None = None, landlock: bool = True, **environment: str
    ) -> None:
        """With `hidden`, in a mount namespace where that folder is empty: no file system is common."""
        options = [self.address, "--name", name, "--nthreads", "1", "--local-directory", str(self.folder / name)]
        command = [*DASK, "worker", *options, *more]
        if not landlock:
            command = [sys.executable, "-c", NO_LANDLOCK, *command[1:]]
        self.workers[name] = self._started(name, command, environment, hidden)

    def worker_process(self, name: str) -> int:
        """The worker itself, below its nanny."""
        below = psutil.Process(self.workers[name].pid).children()
        return next(one.pid for one in below if "spawn_main" in "".join(one.cmdline()))

    def _started(
        self, name: str, command: list[str], environment: Mapping[str, str], hidden: Path | None = None
    ) -> subprocess.Popen[bytes]:
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        if hidden is not None:
            inside = f'mount -t tmpfs none {hidden} && exec "$@"'
            command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", inside, "sh", *command]
        with (self.folder / f"{name}.log").open("ab") as log:
            own = {**self.environment, "TMPDIR": str(place), "HOME": str(place), **environment}
            return subprocess.Popen(command, cwd=place, env=own, stdout=log, stderr=log, start_new_session=True)

    def wait_for(self, count: int, **security: object) -> None:
        with Client(self.address, set_as_default=False, timeout=PATIENCE_SECONDS, **security) as client:
            client.wait_for_workers(count, timeout=PATIENCE_SECONDS)

    def logs(self) -> str:
        return "".join(path.read_text(errors="replace") for path in self.folder.glob("*.log"))

    def close(self) -> None:
        for process in (*self.workers.values(), self.scheduler):
            if process is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextlib.contextmanager
def cluster(folder: Path, *workers: str, **settings: object) -> Iterator[Cluster]:
    made = Cluster(folder, **settings)  # type: ignore[arg-type]
    try:
        for name in workers:
            made.start_worker(name)
        if workers:
            made.wait_for(len(workers))
        yield made
    finally:
        made.close()


def writing(submissions: Path, out: Path, address: str, *more: str, **environment: str) -> subprocess.Popen[str]:
    """`grader batch --dask`, begun."""
    asked = ["--rubric", str(RUBRIC)] if not {"--resume", "--rubric"} & set(more) else []
    command = [*COMMAND, "batch", str(submissions), "--out", str(out), "--dask", address, *asked, *more]
    own = {**ENVIRONMENT, **SOON, **CALM, **environment}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=REPOSITORY, env=own, stdout=pipe, stderr=pipe, text=True)


def written(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same, to its end."""
    process = writing(*arguments, **environment)  # type: ignore[arg-type]
    try:
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def kept_in(out: Path) -> list[str]:
    """The student of every result that was ever kept."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(out / "gradebook.db")) as base:
        return [student for (student,) in base.execute("SELECT student FROM results")]
    return []
