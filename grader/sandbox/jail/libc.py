"""The few C calls Python does not wrap."""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return int(_libc.syscall(ctypes.c_long(number), *wide))


def prctl(option: int, second: int = 0, third: int = 0) -> int:
    return int(_libc.prctl(option, ctypes.c_ulong(second), ctypes.c_ulong(third), ctypes.c_ulong(0), ctypes.c_ulong(0)))


def unshare(flags: int) -> int:
    return int(_libc.unshare(flags))


def setns(descriptor: int, flags: int) -> int:
    return int(_libc.setns(descriptor, flags))


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> int:
    def encode(text: str | None) -> bytes | None:
        return None if text is None else os.fsencode(text)

    return int(_libc.mount(encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(options)))


def check_zero(result: int, what: str) -> int:
    """`result`, or the OSError it stands for if it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
