"""Namespaces: the fork server and its boxes see no network, no other process, and a read-only file system.

The fork server enters them once; each box then gets a process namespace and a scratch folder of its own. The
fork server is process 1 of its own process namespace, so when it goes, the kernel ends every box with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct

from .libc import check_zero, mount, prctl, setns, syscall, unshare

_NEW_MOUNT, _NEW_UTS, _NEW_IPC = 0x00020000, 0x04000000, 0x08000000
_NEW_USER, _NEW_PID, _NEW_NET = 0x10000000, 0x20000000, 0x40000000
_ALL = _NEW_USER | _NEW_PID | _NEW_NET | _NEW_IPC | _NEW_UTS | _NEW_MOUNT

_MOUNT_SETATTR = 442  # the same on every architecture
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_READ_ONLY, _NO_SETUID = 1, 2  # MOUNT_ATTR_*; not NODEV: /dev/null must stay usable
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 2, 4, 8, 0x4000, 0x40000
_PR_SET_PDEATHSIG = 1


def available() -> bool:
    """Whether this process could enter all namespaces. Tried in a child: half-entered is worse than outside."""
    child = os.fork()
    if child == 0:
        try:
            _enter()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _enter() -> None:
    user, group = os.getuid(), os.getgid()
    check_zero(unshare(_ALL), "unshare")
    # One user and one group, mapped to themselves: files keep their owner, and no privilege reaches outside.
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    check_zero(mount("none", "/", None, _MS_REC | _MS_PRIVATE), "private mounts")
    attributes = ctypes.create_string_buffer(struct.pack("=QQQQ", _READ_ONLY | _NO_SETUID, 0, 0, 0), 32)
    root = os.fsencode("/")
    check_zero(syscall(_MOUNT_SETATTR, _AT_FDCWD, root, _AT_RECURSIVE, attributes, 32), "read-only mounts")


def enter_as_first_process() -> None:
    """Enter all namespaces and go on as process 1 of a new process namespace.

    The process that called stays outside as a stand-in: it waits, and ends as the new one ends.
    """
    _enter()
    child = os.fork()
    if child:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.closerange(3, 1024)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ChildProcessError):  # a fork server that parted from this one ends with it
            os.wait()
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    die_with_parent()


def die_with_parent() -> None:
    check_zero(prctl(_PR_SET_PDEATHSIG, signal.SIGKILL), "PR_SET_PDEATHSIG")


def fork_into_own_process_namespace() -> int:
    """Like os.fork, but the child is process 1 of a new process namespace: ending it ends all it started."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        check_zero(unshare(_NEW_PID), "unshare process namespace")
        child = os.fork()
        if child:
            check_zero(setns(own, _NEW_PID), "return to own process namespace")
        return child
    finally:
        os.close(own)


def mount_scratch(folder: str, size_mb: int) -> None:
    """A fresh, bounded, in-memory folder that only this process sees and that goes when it ends."""
    check_zero(unshare(_NEW_MOUNT), "unshare mounts")
    options = f"size={size_mb}m,nr_inodes=20000,mode=700"
    check_zero(mount("tmpfs", folder, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options), "scratch folder")


def hide_other_processes() -> None:
    """A /proc of its own, where the kernel allows one; Landlock keeps the old one from being read either way."""
    mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
