"""A system-call filter: an allow-list, compiled to classic BPF and handed to the kernel.

Written by hand because the packaged way (pyseccomp) needs libseccomp on the machine, and the filter is one array.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from functools import cache

from . import syscalls
from .libc import check_zero, prctl

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2

_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

# struct seccomp_data: nr at 0, arch at 4, the six arguments from 16, each 8 bytes with the low word first.
_NUMBER, _ARCH = 0, 4

_CLONE_THREAD = 0x00010000
_PRCTLS = (15, 16, 0x53564D41)  # PR_SET_NAME, PR_GET_NAME, PR_SET_VMA (glibc names its stacks)
_IOCTLS = (0x5401, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS (isatty), FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
# F_DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW and their OFD forms, DUPFD_CLOEXEC, the pipe size.
# Not F_SETOWN or F_SETSIG: those can make the kernel send signals elsewhere.
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032)

# MADV_NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, DONTFORK, DOFORK, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP.
# Not MERGEABLE, COLD or PAGEOUT: those touch pages that others share.
_ADVICE = (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17)

_Instruction = tuple[int, int, int, int]


def _low(argument: int) -> int:
    return 16 + 8 * argument


def _give(action: int) -> _Instruction:
    return (_RETURN, 0, 0, action)


def _errno(number: int) -> int:
    return _ERRNO | number


def _when(number: int, body: list[_Instruction]) -> list[_Instruction]:
    """Run `body`, which must return on every path, if the call has this number; skip it otherwise."""
    return [(_EQUAL, 0, len(body), number), *body]


def _only_if_argument_is(argument: int, values: tuple[int, ...]) -> list[_Instruction]:
    tests: list[_Instruction] = []
    for index, value in enumerate(values):
        tests.append((_EQUAL, len(values) - index, 0, value))  # jumps over the other tests and the refusal
    return [(_LOAD, 0, 0, _low(argument)), *tests, _give(_errno(_EPERM)), _give(_ALLOW)]


def program(machine: str, own_pid: int, allowed: str = syscalls.ALLOWED) -> list[_Instruction]:
    """The filter for a box whose own process id, as it sees itself, is `own_pid`."""
    conditional = syscalls.numbers(syscalls.CONDITIONAL, machine)
    lines: list[_Instruction] = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, _AUDIT_ARCH[machine]), _give(_KILL)]
    lines.append((_LOAD, 0, 0, _NUMBER))
    if machine == "x86_64":
        lines += [
            (_AT_LEAST, 0, 1, 0x40000000),
            _give(_KILL),
        ]  # the x32 table has the same calls by other numbers
    for number in syscalls.numbers(allowed, machine).values():
        lines += _when(number, [_give(_ALLOW)])
    threads_only = [
        (_LOAD, 0, 0, _low(0)),
        (_ANY_BIT, 0, 1, _CLONE_THREAD),
        _give(_ALLOW),
        _give(_errno(_EPERM)),
    ]
    lines += _when(conditional["clone"], threads_only)
    # clone3 keeps its flags in memory, where a filter cannot look; libc falls back to clone on ENOSYS.
    lines += _when(conditional["clone3"], [_give(_errno(_ENOSYS))])
    lines += _when(conditional["kill"], _only_if_argument_is(0, (own_pid,)))
    lines += _when(conditional["tgkill"], _only_if_argument_is(0, (own_pid,)))
    lines += _when(conditional["prctl"], _only_if_argument_is(0, _PRCTLS))
    lines += _when(conditional["ioctl"], _only_if_argument_is(1, _IOCTLS))
    lines += _when(conditional["fcntl"], _only_if_argument_is(1, _FCNTLS))
    lines += _when(conditional["madvise"], _only_if_argument_is(2, _ADVICE))
    reading_limits = [  # prlimit64(pid, resource, new, old): allowed while both halves of `new` are null
        (_LOAD, 0, 0, _low(2)),
        (_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, _low(2) + 4),
        (_EQUAL, 0, 1, 0),
        _give(_ALLOW),
        _give(_errno(_EPERM)),
    ]
    lines += _when(conditional["prlimit64"], reading_limits)
    for number in syscalls.numbers(syscalls.REFUSED, machine).values():
        lines += _when(number, [_give(_errno(_EPERM))])
    for number in syscalls.numbers(syscalls.PRETENDED, machine).values():
        lines += _when(number, [_give(_errno(0))])
    lines.append(_give(_errno(_ENOSYS)))
    return lines


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


@cache
def compiled(own_pid: int, allowed: str) -> tuple[ctypes.Array[ctypes.c_char], int]:
    """The filter as the kernel reads it, and how many instructions it has."""
    machine = platform.machine()
    if machine not in _AUDIT_ARCH:
        raise OSError(_ENOSYS, f"no system-call table for {machine}")
    lines = program(machine, own_pid, allowed)
    return ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines)), len(lines)


def install(allowed: str = syscalls.ALLOWED) -> None:
    """Put the filter on this process and every thread it will start. Needs no_new_privs."""
    code, length = compiled(os.getpid(), allowed)
    described = _Program(length, ctypes.addressof(code))
    check_zero(prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(described)), "seccomp")
