"""To a Dask cluster by its address: a scheduler that runs somewhere, or workers on this machine."""

from __future__ import annotations

import contextlib
import logging
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster, Security

from grader.errors import UsageError

_LOCAL = re.compile(r"local:(\d{1,3})")
_REMOTE = re.compile(r"(tcp|tls)://[^/\s]+:\d+")
_NO_LARGE_GRAPHS = "8GB"  # Dask advises against large arguments; ours travel once
_WORKER_SECONDS = 60  # that the first worker may take to come


@contextmanager
def connected(address: str, folder: Path) -> Iterator[Client]:
    """A client of it, with at least one worker. What workers of this machine keep on the disk is below `folder`."""
    _silence_logs()
    silent = {"distributed.admin.large-graph-warning-threshold": _NO_LARGE_GRAPHS}
    with dask.config.set(silent), _client(address, folder) as client:
        yield client


@contextmanager
def _client(address: str, folder: Path) -> Iterator[Client]:
    if local := _LOCAL.fullmatch(address):
        with _workers_here(int(local[1]), folder) as cluster, Client(cluster, set_as_default=False) as client:
            client.wait_for_workers(int(local[1]))
            yield client
    elif _REMOTE.fullmatch(address):
        with _client_of(address) as client:
            yield client
    else:
        raise UsageError(f"--dask {address}: give tcp://HOST:PORT or tls://HOST:PORT of a scheduler, or local:N")


def _silence_logs() -> None:
    """Each lost connection is told in a line of ours; Dask's own logs would tell it in thirty."""
    named = [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]
    for name in ("distributed", "tornado", "asyncio", *named):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def _workers_here(count: int, folder: Path) -> Iterator[LocalCluster]:
    if not count:
        raise UsageError("--dask local:0: give the number of worker processes, as in local:2")
    settings = {
        "threads_per_worker": 1,
        "security": Security.temporary(),  # else any user of this machine could run code as this one
        "dashboard_address": None,
        "local_directory": str(folder),
        "silence_logs": logging.CRITICAL,
    }
    with dask.config.set(_calm()), ExitStack() as stack:
        with _deaf_to_interrupts():
            cluster = stack.enter_context(LocalCluster(n_workers=count, **settings))
        yield cluster


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ctrl-C reaches all that a terminal started, and this process decides what ends. What is started meanwhile never
    hears it, nor what that starts in its turn: Dask's own thread, and through it every worker."""
    resource_tracker.ensure_running()  # where multiprocessing starts it itself, interrupts are let in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _calm() -> dict[str, object]:
    """Dask looks at itself some hundred times a second for its dashboard, which workers here have not got."""
    return {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "500ms"}


@contextmanager
def _client_of(address: str) -> Iterator[Client]:
    if address.startswith("tls:") and not Security().get_connection_args("client").get("ssl_context"):
        # A client would break half-made, and say so once more when Python ends.
        why = "TLS needs the certificates that distributed.comm.tls names in Dask's configuration"
        raise UsageError(f"{address}: no scheduler answers there ({why})")
    try:
        client = Client(address, set_as_default=False)
    except (OSError, TypeError, ValueError, RuntimeError) as fault:
        raise UsageError(f"{address}: no scheduler answers there ({_cause(fault)})") from None
    try:
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError:
            raise UsageError(f"{address}: no worker has come in {_WORKER_SECONDS} s; start some first") from None
        yield client
    finally:
        with contextlib.suppress(Exception):  # a scheduler that is gone need not be told
            client.close(timeout=2)


def identity(client: Client) -> dict[str, Any]:
    """The scheduler's own words about itself and its workers. (`client.scheduler_info()` may return what the client has
    fetched for itself meanwhile, which names no worker.)"""
    found: dict[str, Any] = client.sync(client.scheduler.identity, n_workers=-1)
    return found


def _cause(fault: BaseException) -> str:
    deepest = fault
    while deepest.__cause__ is not None:
        deepest = deepest.__cause__
    return str(deepest).partition("\n")[0] or type(deepest).__name__
