"""Which warm process a file's box is forked from: one without torch will do where nothing that it may import names it.

Guessing wrong costs time and nothing else: the library is there in every box, loaded or not; and code that runs out of
time has it loaded when it is tried again.
"""

from __future__ import annotations

import re
from pathlib import Path

HEAVY = frozenset(["torch"])  # forking a process that has loaded it takes ten times as long
_MAX_FILES = 200
_WORD = re.compile(rb"[A-Za-z_]\w*")


def mentions(folder: Path, file: str, libraries: frozenset[str]) -> bool:
    """Whether the file, or any other of the submission's whose name it mentions, names one of these libraries."""
    names = {library.encode() for library in libraries}
    others: dict[bytes, list[Path]] = {}
    for number, path in enumerate(sorted(folder.rglob("*.py"))):
        if number >= _MAX_FILES:
            return True
        others.setdefault(path.stem.encode(), []).append(path)
        others.setdefault(path.parent.name.encode(), []).append(path)  # a package
    waiting, seen = [folder / file], set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        try:
            words = set(_WORD.findall(path.read_bytes()))
        except OSError:
            return True
        if words & names:
            return True
        waiting += [other for word in words & others.keys() for other in others[word]]
    return False
