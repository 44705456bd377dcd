"""Landlock: from here on this process opens only the files it was granted, whoever it runs as.

Written by hand: it is three system calls, and the packages that wrap them are young.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable
from functools import cache

from .libc import check_zero, syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_RULE_PATH_BENEATH = 1
_CREATE_RULESET_VERSION = 1

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_NAMES_IN_FOLDERS = 0b11_1111_1111 << 4  # remove, make and move files, folders, links, pipes, …
_TRUNCATE = 1 << 14
_FILE_ONLY = _WRITE_FILE | _READ_FILE | _TRUNCATE  # what may be granted on something that is not a folder

LIST = _READ_DIR
READ = _READ_FILE | _READ_DIR
WRITE = READ | _WRITE_FILE | _NAMES_IN_FOLDERS | _TRUNCATE

# How many of the rights, in bit order, each ABI version knows: refer came with 2, truncate with 3, device ioctl with 5.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
TRUNCATION_IS_GUARDED_SINCE = 3

Rules = Iterable[tuple[str, int]]


@cache  # a fork server asks for all its boxes
def abi() -> int:
    """The kernel's Landlock version, 0 if there is none."""
    return max(0, syscall(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION))


def ruleset(rules: Rules) -> int:
    """A descriptor for "these rights below these paths and nothing else"; `enforce` makes it true.

    Paths that do not exist are passed over: they cannot be opened either way.
    """
    version = abi()
    handled = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    network = 0b11 if version >= 4 else 0  # no TCP bind, no TCP connect
    scoped = 0b11 if version >= 6 else 0  # no abstract Unix sockets or signals to processes outside the box
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    attributes = struct.pack("=QQQ", handled, network, scoped)
    made = check_zero(syscall(_CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")
    for path, rights in rules:
        _grant(made, path, rights & handled)
    return made


def enforce(made: int) -> None:
    """Only what the ruleset and every earlier one allow, for this process and for good. Needs no_new_privs."""
    check_zero(syscall(_RESTRICT_SELF, made, 0), "landlock_restrict_self")


def _grant(made: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            rights &= _FILE_ONLY
        if rights:
            rule = struct.pack("=Qi", rights, parent)
            check_zero(syscall(_ADD_RULE, made, _RULE_PATH_BENEATH, rule, 0), f"landlock rule for {path}")
    finally:
        os.close(parent)
