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


def _found(bodies: list[tuple[int, list[_Instruction]]]) -> list[_Instruction]:
    """Run the body of the last number that is not above the call's; each has to return on every path.

    By halves: the kernel tries the filter with every number there is before it takes it.
    """
    if len(bodies) == 1:
        return bodies[0][1]
    half = len(bodies) // 2
    below = _found(bodies[:half])
    assert len(below) < 256, "a jump reaches no further"
    return [(_AT_LEAST, len(below), 0, bodies[half][0]), *below, *_found(bodies[half:])]


def _only_if_argument_is(argument: int, values: tuple[int, ...]) -> list[_Instruction]:
    tests: list[_Instruction] = []
    for index, value in enumerate(values):
        tests.append((_EQUAL, len(values) - index, 0, value))  # jumps over the other tests and the refusal
    return [(_LOAD, 0, 0, _low(argument)), *tests, _give(_errno(_EPERM)), _give(_ALLOW)]


def program(machine: str, own_pid: int, allowed: str = syscalls.ALLOWED) -> list[_Instruction]:
    """The filter for a box whose own process id, as it sees itself, is `own_pid`."""
    lines: list[_Instruction] = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, _AUDIT_ARCH[machine]), _give(_KILL)]
    lines.append((_LOAD, 0, 0, _NUMBER))
    if machine == "x86_64":
        lines += [
            (_AT_LEAST, 0, 1, 0x40000000),
            _give(_KILL),
        ]  # the x32 table has the same calls by other numbers
    return lines + _found(_in_order(_bodies(machine, own_pid, allowed)))


def _in_order(bodies: dict[int, list[_Instruction]]) -> list[tuple[int, list[_Instruction]]]:
    """From which number on what is to be done. Numbers in between that have nothing are of no known call."""
    unknown = [_give(_errno(_ENOSYS))]
    begins: list[tuple[int, list[_Instruction]]] = [(0, bodies.get(0, unknown))]
    for number in range(1, max(bodies) + 2):
        if (body := bodies.get(number, unknown)) != begins[-1][1]:
            begins.append((number, body))
    return begins


def _bodies(machine: str, own_pid: int, allowed: str) -> dict[int, list[_Instruction]]:
    """What is to be done for each call that has a say."""
    conditional = syscalls.numbers(syscalls.CONDITIONAL, machine)
    threads_only = [
        (_LOAD, 0, 0, _low(0)),
        (_ANY_BIT, 0, 1, _CLONE_THREAD),
        _give(_ALLOW),
        _give(_errno(_EPERM)),
    ]
    reading_limits = [  # prlimit64(pid, resource, new, old): allowed while both halves of `new` are null
        (_LOAD, 0, 0, _low(2)),
        (_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, _low(2) + 4),
        (_EQUAL, 0, 1, 0),
        _give(_ALLOW),
        _give(_errno(_EPERM)),
    ]
    bodies = {number: [_give(_errno(0))] for number in syscalls.numbers(syscalls.PRETENDED, machine).values()}
    bodies |= {number: [_give(_errno(_EPERM))] for number in syscalls.numbers(syscalls.REFUSED, machine).values()}
    bodies |= {
        conditional["clone"]: threads_only,
        # clone3 keeps its flags in memory, where a filter cannot look; libc falls back to clone on ENOSYS.
        conditional["clone3"]: [_give(_errno(_ENOSYS))],
        conditional["kill"]: _only_if_argument_is(0, (own_pid,)),
        conditional["tgkill"]: _only_if_argument_is(0, (own_pid,)),
        conditional["prctl"]: _only_if_argument_is(0, _PRCTLS),
        conditional["ioctl"]: _only_if_argument_is(1, _IOCTLS),
        conditional["fcntl"]: _only_if_argument_is(1, _FCNTLS),
        conditional["madvise"]: _only_if_argument_is(2, _ADVICE),
        conditional["prlimit64"]: reading_limits,
    }
    return bodies | {number: [_give(_ALLOW)] for number in syscalls.numbers(allowed, machine).values()}


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
