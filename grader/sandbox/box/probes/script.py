"""A student's script run as `python script.py` would run it, on data files the grader puts in place.

What it says comes back as text, whichever way it says it: printed, written to a file, or returned by a function that
nothing in the script calls. What the text means is judged outside.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import os
import re
import stat
import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from ..loading import course_utils, student_code, student_loader, student_machine
from ..loading.later_modules import later
from ..output import Output
from ..reading.source_text import does_something
from .script_arguments import OUTPUT, Declared, Offered, value_for
from .script_files import Surroundings, put_in_place

_TEXT_CHARACTERS = 1 << 16  # of each file it writes
_MAX_FILES = 10
_MAX_COMMANDS = 8  # command lines that are tried in one folder
_MAX_NEEDED = 2  # arguments of a function that nothing calls: the data, and what to answer
_MAX_MENDED = 6  # times that data are put where one of them looks for them
_SAYS_A_RESULT = re.compile(r"main|baseline|london|accuracy|evaluat|score", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])(?:\d+(?:\.\d*)?|\.\d+)")
_ERROR_NUMBER = re.compile(r"\[Errno \d+\]")
# What code raises when it gets no argument, or None for one.
_FOR_WANT_OF_ARGUMENTS = (TypeError, IndexError, ValueError, AttributeError)


def run_script(file: str, data: dict[str, str], answer: str) -> dict[str, Any]:
    """Run it as the main program, at the top of the submission or else further down, and collect what it says.

    `answer` is what it gets where it asks for one.
    """
    offered = Offered(data, answer)
    started, replaced = does_something(file), put_in_place(file, data)
    course_utils.offer()
    failed: _Run | None = None
    own = os.path.dirname(file)
    between = [os.sep.join(own.split(os.sep)[:depth]) for depth in range(1, own.count(os.sep) + 1)]
    for folder in dict.fromkeys((".", own or ".", *between)):
        run = _tried(file, os.path.abspath(folder), offered)
        if run.error is None or not started:
            where = "top" if folder == "." else "own" if folder == own else "between"
            return {**run.said(), "run_from": where, "replaced": replaced, "started": started}
        if failed is None or isinstance(failed.error, (FileNotFoundError, ModuleNotFoundError)):
            failed = run
    assert failed is not None
    assert failed.error is not None
    print(failed.said()["printed"])  # where the box's output goes: it may help to find the mistake
    raise failed.error


def _tried(file: str, folder: str, offered: Offered) -> _Run:
    """Run it as it is; where it then fails or states nothing, with arguments. The first run that states something
    counts, else the first that ended well, else the one whose error says most."""
    declared = Declared()
    runs: dict[tuple[str, ...], _Run] = {}
    offers: list[tuple[str, ...]] = [()]
    while offers and len(runs) < _MAX_COMMANDS:
        run = _Run(file, folder, offered, offers[0], declared)
        run.until_it_works()
        if run.error is None and run.states_something:
            return run
        runs[offers[0]] = run
        by_place = [(offered.labels,), (offered.labels, OUTPUT)] if run.reads_its_arguments else []
        offers = [offer for offer in (*declared.offers(offered), *by_place) if offer not in runs]
    ended_well = [run for run in runs.values() if run.error is None]
    return ended_well[0] if ended_well else max(runs.values(), key=lambda run: run.error_says)


class _Run:
    """One run with certain arguments, or several until it finds the data."""

    def __init__(
        self, file: str, folder: str, offered: Offered, arguments: tuple[str, ...], declared: Declared
    ) -> None:
        self._path = os.path.abspath(file)
        self._top = os.getcwd()
        self._folder = folder
        self._offered = offered
        self._surroundings = Surroundings(self._top, offered.data)
        self._arguments = arguments
        self._declared = declared
        self._in_a_package = False
        self._printed = ""
        self._before: dict[str, tuple[int, int]] = {}
        self._written: list[tuple[str, str]] = []
        self._returned: list[tuple[str, str]] = []
        self._stand_in = False
        self.reads_its_arguments = False
        self.error: BaseException | None = None

    def until_it_works(self) -> None:
        """Afterwards `error` is what it raised, or None if it ran to its end."""
        for _ in range(_MAX_MENDED):
            self._written, self._returned = [], []
            self.error = self._once()
            self._collect()
            if self.error is None or not self._mended(self.error):
                return

    def said(self) -> dict[str, Any]:
        return {
            "printed": self._printed,
            "written": self._written,
            "returned": self._returned,
            "stand_in": self._stand_in,
        }

    @property
    def states_something(self) -> bool:
        """Whether there is a number in what it said. "0 of 0" is what a script says that was given no data."""
        texts = [self._printed, *(text for _, text in (*self._returned, *self._written))]
        numbers = (number for text in texts for number in _NUMBER.finditer(_ERROR_NUMBER.sub("", text)))
        return any(float(number[0]) for number in numbers)

    @property
    def error_says(self) -> int:
        """Least of all that arguments are missing."""
        if isinstance(self.error, SystemExit):
            return 0
        return 1 if isinstance(self.error, _FOR_WANT_OF_ARGUMENTS) and not self._arguments else 2

    def _once(self) -> BaseException | None:
        output = Output.cleared()
        self._before = _files(self._top)
        main = ModuleType("__main__")
        main.__file__ = self._path
        with open(self._path, "rb") as source:
            content = source.read()
        self.reads_its_arguments = b"argv" in content
        student_machine.offer(content)
        with self._as_if_started(main, output, content), self._declared.noted():
            try:
                exec(compile(student_loader.parse(self._path), self._path, "exec"), vars(main))
                if not re.search(r"\d", output.text()):
                    self._call_what_nothing_calls(main)
            except SystemExit as end:
                if end.code and "usage" in output.text().lower():  # it was not given the arguments it needs
                    return end
                if not isinstance(end.code, int | None):
                    output.stream.write(f"{end.code}\n")  # as Python does with `sys.exit(0.05)`
            except BaseException as error:  # whatever a script raises, KeyboardInterrupt included
                return error
            finally:
                _flush([value for value in vars(main).values() if isinstance(value, io.IOBase)])
        return None

    @contextlib.contextmanager
    def _as_if_started(self, main: ModuleType, output: Output, content: bytes) -> Iterator[None]:
        """A fresh start for every run: the student's modules may have read data when they were imported."""
        top, own = self._top, os.path.dirname(self._path)
        kept = sys.argv, sys.path, sys.modules["__main__"], sys.stdin, sys.stdout, sys.stderr
        # All are found before any goes: where a package lies is asked of the one it is part of.
        for name in [name for name, module in later() if _is_below(module, top) or course_utils.is_ours(module)]:
            del sys.modules[name]
        above = [own]
        while above[-1].startswith(top + os.sep):  # `import src.utils`, as from the folder that src/ is in
            above.append(os.path.dirname(above[-1]))
        sys.argv = [self._path, *self._arguments]
        sys.path = [own, *sys.path, *above[1:], top, os.path.join(top, "src")]
        if self._in_a_package:
            main.__package__ = student_code.package_of(self._path)
        sys.modules["__main__"] = main
        sys.stdout = sys.stderr = output.stream
        if re.search(rb"stdin|fileinput", content):  # as in `python script.py < birth_dev.tsv`
            sys.stdin = io.TextIOWrapper(io.BytesIO(self._offered.data[self._offered.labels].encode()), "utf-8")
        os.chdir(self._folder)
        try:
            with _fresh_logging(), self._surroundings.as_on_their_machine():
                yield
        finally:
            self._printed = output.text()
            self._stand_in = course_utils.are_used()
            sys.argv, sys.path, sys.modules["__main__"], sys.stdin, sys.stdout, sys.stderr = kept
            os.chdir(top)

    def _mended(self, error: BaseException) -> bool:
        """Whether it may work now: the data lie where it looked for them, or it is part of a package."""
        if isinstance(error, (FileNotFoundError, PermissionError)):
            return self._surroundings.mended(error, self._folder)
        if isinstance(error, ImportError) and "no known parent package" in str(error) and not self._in_a_package:
            self._in_a_package = True
            return True
        return False

    def _call_what_nothing_calls(self, main: ModuleType) -> None:
        """A script may only define the function that says the result. One with a telling name comes first."""
        errors: list[Exception] = []
        own = {n: f for n, f in vars(main).items() if isinstance(f, FunctionType) and f.__module__ == "__main__"}
        telling = {name: function for name, function in own.items() if _SAYS_A_RESULT.search(name)}
        for name, function in (telling or own).items():
            parameters = inspect.signature(function).parameters.values()
            needed = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
            if len(needed) <= _MAX_NEEDED:
                try:
                    result = str(function(*(value_for(one, self._offered) for one in needed)))
                    self._returned.append((name[:80], result[:_TEXT_CHARACTERS]))
                except Exception as error:  # it may want something else than the data
                    errors.append(error)
        if errors and not self._returned and _files(self._top) == self._before:
            raise errors[0]

    def _collect(self) -> None:
        """Files it has written, which then go: the next run starts without them."""
        for path, stamp in _files(self._top).items():
            if self._before.get(path) != stamp and os.path.basename(path) not in self._offered.data:
                if len(self._written) < _MAX_FILES:
                    with open(path, encoding="utf-8", errors="replace") as file:
                        self._written.append((os.path.relpath(path), file.read(_TEXT_CHARACTERS)))
                if path not in self._before:
                    os.unlink(path)


def _is_below(module: Any, top: str) -> bool:
    """Whether a module, or a folder that is a package without a file, is the student's. Some of torch's modules raise
    when they are asked for what they do not have."""
    known = getattr(module, "__dict__", {})
    places = [known.get("__file__"), *list(known.get("__path__") or ())]
    return any(f"{place}{os.sep}".startswith(top + os.sep) for place in places)


def _flush(left_open: list[io.IOBase]) -> None:
    """As at the end of a program."""
    for file in left_open:
        with contextlib.suppress(ValueError, OSError):  # it was closed, or cannot be written
            file.flush()


@contextlib.contextmanager
def _fresh_logging() -> Iterator[None]:
    """Handlers that a run adds end with it: the next one's `basicConfig` does nothing where there are some."""
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    kept = [handler for logger in loggers for handler in getattr(logger, "handlers", [])]
    try:
        yield
    finally:
        for logger in [logging.root, *logging.root.manager.loggerDict.values()]:
            for handler in [one for one in getattr(logger, "handlers", []) if one not in kept]:
                logger.removeHandler(handler)  # type: ignore[union-attr]  # placeholders have no handlers
                handler.close()


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
