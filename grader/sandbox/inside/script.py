"""A student's script run as `python script.py` would run it, on data files the grader puts in place.

What it says comes back as text, whichever way it says it: printed, written to a file, or returned by a function that
nothing in the script calls. What the text means is judged outside.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from . import course_utils
from .output import Output

_TEXT_CHARACTERS = 1 << 16  # of each file it writes
_MAX_FILES = 10
_CARRIED_BYTES = 1 << 20  # files up to this size move along when a submission is too large to be written into
_MAX_TRIES = 6
# Where scripts look for data, seen from the top of the submission and from the script's own folder.
_DATA_FOLDERS = ("", "data", "..", os.path.join("..", "data"))
_SAYS_A_RESULT = re.compile(r"main|baseline|london|accuracy|evaluat|score", re.IGNORECASE)
_ASKS_FOR = re.compile(r"the following arguments are required: (.*)")

placed: set[str] = set()  # where data were put: a later run with other data finds none of these


def run_script(file: str, data: dict[str, str]) -> dict[str, Any]:
    """Run it as the main program, at the top of the submission or else in its own folder, and collect what it says."""
    course_utils.offer()
    replaced = _put_in_place(file, data)
    failed: _Run | None = None
    for folder in dict.fromkeys((".", os.path.dirname(file) or ".")):
        run = _Run(file, os.path.abspath(folder), data)
        run.until_it_works()
        if run.error is None:
            return {**run.said(), "own_folder": folder != ".", "replaced": replaced}
        if failed is None or isinstance(failed.error, (FileNotFoundError, ModuleNotFoundError)):
            failed = run
    assert failed is not None
    assert failed.error is not None
    print(failed.said()["printed"])  # where the box's output goes: it may help to find the mistake
    raise failed.error


def _put_in_place(file: str, data: dict[str, str]) -> bool:
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
    for place in places | own | placed:
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
                shutil.copyfile(path, os.path.join(copy, path))
    os.chdir(copy)


class _Run:
    """One run, or several until it has the data and arguments it asks for."""

    def __init__(self, file: str, folder: str, data: dict[str, str]) -> None:
        self._path = os.path.abspath(file)
        self._top = os.getcwd()
        self._folder = folder
        self._data = data
        self._arguments: list[str] = []
        self._printed = ""
        self._before: dict[str, tuple[int, int]] = {}
        self._written: list[tuple[str, str]] = []
        self._returned: list[tuple[str, str]] = []
        self._stand_in = False
        self.error: BaseException | None = None

    def until_it_works(self) -> None:
        """Afterwards `error` is what it raised, or None if it ran to its end."""
        for _ in range(_MAX_TRIES):
            self.error = self._once()
            if self.error is None or not self._mended(self.error):
                return

    def said(self) -> dict[str, Any]:
        return {
            "printed": self._printed,
            "written": self._written,
            "returned": self._returned,
            "stand_in": self._stand_in,
        }

    def _once(self) -> BaseException | None:
        output = Output.cleared()
        self._before = _files(self._top)
        main = ModuleType("__main__")
        main.__file__ = self._path
        with self._as_if_started(main, output):
            try:
                with open(self._path, "rb") as source:
                    program = compile(source.read(), self._path, "exec")
                exec(program, vars(main))
                if not re.search(r"\d", output.text()):
                    self._call_what_nothing_calls(main)
            except SystemExit as end:
                if end.code and "usage" in output.text().lower():  # it was not given the arguments it needs
                    return end
                if not isinstance(end.code, int | None):
                    output.stream.write(f"{end.code}\n")  # as Python does with `sys.exit(0.05)`
            except BaseException as error:  # whatever a script raises, KeyboardInterrupt included
                return error
        self._stand_in = course_utils.is_ours(sys.modules.get("utils"))
        self._collect()
        return None

    @contextlib.contextmanager
    def _as_if_started(self, main: ModuleType, output: Output) -> Iterator[None]:
        """A fresh start for every run: the student's modules may have read data when they were imported."""
        top = self._top
        kept = sys.argv, sys.path, sys.modules["__main__"], sys.stdout, sys.stderr
        for name, module in list(sys.modules.items()):
            origin = getattr(module, "__file__", None) or ""
            if origin.startswith(top + os.sep) or course_utils.is_ours(module):
                del sys.modules[name]
        sys.argv = [self._path, *self._arguments]
        sys.path = [os.path.dirname(self._path), *sys.path, top, os.path.join(top, "src")]
        sys.modules["__main__"] = main
        sys.stdout = sys.stderr = output.stream
        os.chdir(self._folder)
        try:
            yield
        finally:
            self._printed = output.text()
            sys.argv, sys.path, sys.modules["__main__"], sys.stdout, sys.stderr = kept
            os.chdir(top)

    def _mended(self, error: BaseException) -> bool:
        """Whether it may work now: the data lie where it looked for them, or it is given their name."""
        if isinstance(error, FileNotFoundError) and isinstance(error.filename, str):
            name = os.path.basename(error.filename)
            wanted = os.path.join(self._folder, error.filename)
            return name in self._data and not os.path.exists(wanted) and _write(wanted, self._data[name])
        if self._arguments:
            return False
        (labels, *_) = self._data
        if isinstance(error, SystemExit) and (asked := _ASKS_FOR.search(self._printed)):
            for name in asked[1].split(","):
                flag = [option for option in name.strip().split("/") if option.startswith("-")][:1]
                value = "london_baseline.predictions" if re.search("out|pred|writ|save", name) else labels
                self._arguments += [*flag, value]
            return True
        if isinstance(error, (SystemExit, IndexError)):  # `sys.argv[1]`
            self._arguments = [labels]
            return True
        return False

    def _call_what_nothing_calls(self, main: ModuleType) -> None:
        """A script may only define the function that says the result."""
        errors: list[Exception] = []
        for name, value in list(vars(main).items()):
            if isinstance(value, FunctionType) and value.__module__ == "__main__" and _SAYS_A_RESULT.search(name):
                parameters = inspect.signature(value).parameters.values()
                needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
                if len(needed) <= 1:
                    try:
                        result = str(value(*list(self._data)[: len(needed)]))
                        self._returned.append((name[:80], result[:_TEXT_CHARACTERS]))
                    except Exception as error:  # it may want something else than the data
                        errors.append(error)
        if errors and not self._returned and _files(self._top) == self._before:
            raise errors[0]

    def _collect(self) -> None:
        """Files it has written, which then go: the next run starts without them."""
        for path, stamp in _files(self._top).items():
            if self._before.get(path) != stamp and os.path.basename(path) not in self._data:
                if len(self._written) < _MAX_FILES:
                    with open(path, encoding="utf-8", errors="replace") as file:
                        self._written.append((os.path.relpath(path), file.read(_TEXT_CHARACTERS)))
                if path not in self._before:
                    os.unlink(path)


def _files(top: str) -> dict[str, tuple[int, int]]:
    found = {}
    for folder, _, names in os.walk(top):
        if os.path.basename(folder) != "__pycache__":
            for name in names:
                path = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    status = os.stat(path)
                    if stat.S_ISREG(status.st_mode):
                        found[path] = (status.st_size, status.st_mtime_ns)
    return found
