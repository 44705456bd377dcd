"""The files of a script's surroundings: the grader's data where it looks for them, folders it wants to write to."""

from __future__ import annotations

import builtins
import contextlib
import io
import os
from collections.abc import Mapping
from typing import Any

from ..calls import replaced

_CARRIED_BYTES = 1 << 20  # files up to this size move along when a submission is too large to be written into
# Where scripts look for data, seen from the top of the submission and from the script's own folder.
_DATA_FOLDERS = ("", "data", "..", os.path.join("..", "data"))

placed: set[str] = set()  # where data were put: a later run with other data finds none of these


def put_in_place(file: str, data: dict[str, str]) -> bool:
    """The grader's data win over files of the same name that were handed in: all are measured on the same questions.

    True if there were any. The files handed in stay as they are; this is the box's own copy.
    """
    try:
        with open(".grader", "w"):
            os.unlink(".grader")
    except OSError:  # too large to have been copied into the box
        _move_to_a_copy()
    places = {os.path.join(base, folder) for base in (".", os.path.dirname(file)) for folder in _DATA_FOLDERS}
    own = {folder for folder, _, names in os.walk(".") if not data.keys().isdisjoint(names)}
    for place in set(map(os.path.realpath, places | own | placed)):  # `src/..` is the top by another name
        for name, text in data.items():
            _write(os.path.join(place, name), text)
    return bool(own)


def _write(path: str, text: str) -> bool:
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # whatever it was: a link, or a file that may not be written
        with open(path, "w", encoding="utf-8", newline="") as target:
            target.write(text)
        placed.add(os.path.dirname(os.path.abspath(path)))
    except OSError:  # above the scratch folder, or a folder of that name: nobody looks there
        return False
    return True


def _move_to_a_copy() -> None:
    copy = os.path.join(os.environ["HOME"], "copy", "submission")
    for folder, _, names in os.walk("."):
        os.makedirs(os.path.join(copy, folder), exist_ok=True)
        for name in names:
            path = os.path.join(folder, name)
            if os.path.getsize(path) <= _CARRIED_BYTES:
                with open(path, "rb") as source, open(os.path.join(copy, path), "wb") as target:
                    target.write(source.read())
    os.chdir(copy)


class Surroundings:
    """What is done, run by run, about files that a script did not find."""

    def __init__(self, top: str, data: Mapping[str, str]) -> None:
        self._top = top
        self._data = data
        self._elsewhere: dict[str, str] = {}  # paths of another machine, and where those data lie here

    def mended(self, error: FileNotFoundError | PermissionError, folder: str) -> bool:
        """Whether what was not found is there now: data, here or as on the machine of the student, or a folder."""
        if not isinstance(error.filename, str):
            return False
        wanted = os.path.join(folder, error.filename)
        name = error.filename.replace("\\", "/").rpartition("/")[2]
        if name in self._data:
            if os.path.exists(wanted) or error.filename in self._elsewhere:
                return False
            # A path as on Windows is the name of one file here, and a later run would find old data under it.
            if "\\" in error.filename or not _write(wanted, self._data[name]):
                self._elsewhere[error.filename] = os.path.join(self._top, name)
            return True
        above = os.path.dirname(os.path.abspath(wanted))
        if os.path.exists(above) or not above.startswith(self._top + os.sep):
            return False
        with contextlib.suppress(OSError):
            os.makedirs(above)
        return os.path.exists(above)

    def as_on_their_machine(self) -> contextlib.AbstractContextManager[None]:
        """Within, a path that only the student's machine has opens the same data here."""
        real, elsewhere = builtins.open, self._elsewhere

        def open_here(file: Any, *args: Any, **how: Any) -> Any:
            return real(elsewhere.get(str(file), file), *args, **how)

        return replaced([(module, "open", open_here) for module in (builtins, io) if elsewhere])
