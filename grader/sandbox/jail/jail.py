"""The jail a box puts on before it reads a single byte of the student's.

Layers, outermost first: namespaces (where the kernel allows), limits, no privileges, Landlock, seccomp. Each is the
kernel's, so nothing the student's code does to this process can take one off.
"""

from __future__ import annotations

import os
import resource
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from . import landlock, namespaces, seccomp, syscalls
from .libc import check_zero, prctl, syscall

# Without these four, student code is not run at all.
REQUIRED = ("limits", "no_new_privs", "landlock", "seccomp")
OPTIONAL = ("namespaces",)

_PR_SET_NO_NEW_PRIVS = 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_MACHINE = os.uname().machine
_CAPABILITY_VERSION_3 = 0x20080522

_OPEN_FILES = 256
_STATM_BYTES = 256  # seven numbers
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full")


class NotSafe(Exception):
    """A required layer cannot be had; the text says which and why."""


class Confinement(NamedTuple):
    """What one box may use."""

    submission: str
    scratch: str
    cpu_seconds: int
    memory_mb: int
    scratch_mb: int


def shared_rules(python: list[str], listable: list[str], workspace: str) -> list[tuple[str, int]]:
    """What any box of this fork server may open: the Python installation entry by entry, and the workspace.

    Entry by entry, because an installation may hold the grader and its reference too, and Landlock cannot take
    back a part of what was granted. The list is long, so it is built once and every box narrows it further.
    """
    rules = [(path, landlock.READ) for path in python]
    rules += [(path, landlock.LIST) for path in listable]
    return [*rules, *((device, landlock.WRITE) for device in _DEVICES), (workspace, landlock.WRITE)]


def outermost(folders: list[str]) -> list[str]:
    """Without those that lie in another of them: what is granted on that one holds below it."""
    real = {os.path.realpath(folder): folder for folder in folders}
    return [folder for path, folder in real.items() if not any(path.startswith(f"{other}/") for other in real)]


class Reach(NamedTuple):
    """What sandboxes of a fork server may open next to their submission."""

    shared: int | None  # rules of Landlock; none where there is no Landlock
    installation: list[str]


def put_on(box: Confinement, reach: Reach, isolated: bool, unsafe: bool) -> list[str]:
    """Give up, for good, everything the student's code has no need of. Returns the layers that are on.

    Raises NotSafe if a required layer cannot be had, unless `unsafe`.
    """
    worn = ["namespaces"] if isolated else []
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("limits", lambda: _limit(box)),
        ("no_new_privs", _give_up_privileges),
        ("landlock", lambda: _wall_off(box, reach, isolated)),
        ("seccomp", seccomp.install),
    )
    for layer, put in steps:
        try:
            put()
        except OSError as error:
            if not unsafe:
                raise NotSafe(f"{layer}: {error}") from error
        else:
            worn.append(layer)
    return worn


def put_on_for_reading(cpu_seconds: int, memory_mb: int) -> list[str]:
    """For a process that has all it reads in memory: it opens no file at all, so Landlock is a second wall to it."""
    _limit(Confinement("", "", cpu_seconds, memory_mb, scratch_mb=0))
    _give_up_privileges()
    worn = ["limits", "no_new_privs"]
    if landlock.abi():
        landlock.enforce(landlock.ruleset(()))
        worn.append("landlock")
    seccomp.install(syscalls.READING)
    return [*worn, "seccomp"]


def _limit(box: Confinement) -> None:
    address_space = address_space_in_use() + box.memory_mb * 2**20
    # The grader watches processor time itself and is exact. The kernel counts in whole ticks, and on a busy machine
    # takes a process to have run for all of a tick it only shared: its limit is a backstop in case the grader is gone.
    limits = {
        resource.RLIMIT_CPU: 2 * box.cpu_seconds + 5,
        resource.RLIMIT_AS: address_space,
        resource.RLIMIT_FSIZE: box.scratch_mb * 2**20,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    for kind, limit in limits.items():
        resource.setrlimit(kind, (limit, limit))


@lru_cache(maxsize=1)
def address_space_in_use() -> int:
    """Asked before boxes are forked: they begin with as much."""
    statm = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        return int(os.read(statm, _STATM_BYTES).split()[0]) * resource.getpagesize()
    finally:
        os.close(statm)


def _give_up_privileges() -> None:
    check_zero(prctl(_PR_SET_NO_NEW_PRIVS, 1), "no_new_privs")
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    none = bytes(24)  # effective, permitted and inheritable, all empty
    check_zero(syscall(_CAPSET[_MACHINE], header, none), "capset")


def _wall_off(box: Confinement, reach: Reach, isolated: bool) -> None:
    if reach.shared is None:
        raise OSError("this kernel has no Landlock")
    if not isolated and landlock.abi() < landlock.TRUNCATION_IS_GUARDED_SINCE:
        raise OSError("this kernel's Landlock lets files be emptied, and there is no read-only mount to make up for it")
    own = [(path, landlock.READ) for path in (*reach.installation, box.submission)]
    own += [(path, landlock.WRITE) for path in (box.scratch, *_DEVICES)]
    # Both hold, in whatever order: the short one first, because the kernel copies what it has for each to come.
    for ruleset in (landlock.ruleset(own), reach.shared):
        landlock.enforce(ruleset)
        os.close(ruleset)


def tell_of_scratch(folder: str) -> None:
    """Said by the fork server, it holds for all boxes to come."""
    if os.environ.get("HOME") != folder:
        os.environ["HOME"] = os.environ["TMPDIR"] = folder


def mount_scratch(box: Confinement) -> None:
    namespaces.mount_scratch(box.scratch, box.scratch_mb)
    namespaces.hide_other_processes()
