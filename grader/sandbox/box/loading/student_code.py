"""Find and import a student's file as it would import for the student; say where it goes wrong."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from . import later_modules, notebook_part, student_loader

_TEXT_LIMIT = 400
_PACKAGE = "handed_in"  # what the top of the submission is called where relative imports ask for a package
_OUTSIDE_A_PACKAGE = ("no known parent package", "beyond top-level package")


class Absent(Exception):
    """The file has no such name; `names` are those it does define."""

    def __init__(self, names: list[str]) -> None:
        super().__init__("absent")
        self.names = names


class ImportFailed(Exception):
    """The student's file raised while it was imported; `__cause__` is what it raised."""


loaded: dict[str, ModuleType] = {}
_ready: dict[tuple[str, str], ModuleType] = {}  # what a name needs has run, in this module


def attribute(file: str, name: str) -> Any:
    """`name` from the student's file, given relative to the submission."""
    module = loaded.get(file)
    if module is None:
        module = load(file)
    if _ready.get((file, name)) is not module:
        names, before = _provided(file, name), module
        module = loaded[file]
        if not hasattr(module, name):
            known = sorted(key for key in {*vars(before), *names} if not key.startswith("_"))
            raise Absent(known[:20])
        _ready[file, name] = module
    try:
        return getattr(module, name)
    except AttributeError:  # it was there before
        raise Absent(sorted(key for key in vars(module) if not key.startswith("_"))[:20]) from None


def _provided(file: str, name: str) -> set[str]:
    """Run what the name needs. Returns all names of the file, run or not."""
    for is_last in (False, True):
        loader = getattr(loaded[file], "__loader__", None)
        if not isinstance(loader, student_loader.OwnLoader) or loader.program is None:
            break
        try:
            loader.program.provide({name})
            return loader.program.names
        except BaseException as error:  # a student's module may raise anything, SystemExit included
            asks_for_a_package = isinstance(error, ImportError) and any(map(str(error).count, _OUTSIDE_A_PACKAGE))
            if is_last or not asks_for_a_package:
                raise ImportFailed from error
        loaded[file] = _loaded(file, _as_part_of_all)
    return set()


def load(file: str) -> ModuleType:
    if file not in loaded:
        loaded[file] = _loaded(file, _import)
    return loaded[file]


def _loaded(file: str, load: Callable[[str], ModuleType]) -> ModuleType:
    try:
        return load(os.path.abspath(file))
    except BaseException as error:
        raise ImportFailed from error


def forget() -> None:
    loaded.clear()
    _ready.clear()


def parsed(file: str) -> list[tuple[str, ast.Module]]:
    """A student's source, not run: a file in one piece, a notebook cell by cell, each with the name to show."""
    try:
        if notebook_part.is_part(file):
            return notebook_part.trees(file)
        return [(file, student_loader.parse(os.path.abspath(file)))]
    except (SyntaxError, ValueError) as error:
        raise ImportFailed from error


def is_own(code_file: str) -> bool:
    """Whether code that says it comes from there is the student's."""
    return code_file.startswith(os.getcwd() + os.sep) or notebook_part.is_cell(code_file)


def own_modules() -> list[ModuleType]:
    """The student's modules that are loaded, each once."""
    modules = {id(one): one for one in (*dict(later_modules.later()).values(), *loaded.values())}.values()
    return [one for one in modules if is_own(str(getattr(one, "__file__", None))) or one in loaded.values()]


@contextlib.contextmanager
def imported_anew() -> Iterator[None]:
    """Within, none of the student's files has been imported yet."""
    modules, before = own_modules(), dict(loaded)
    own = {name: module for name, module in later_modules.later() if module in modules}
    for name in own:
        del sys.modules[name]
    loaded.clear()
    try:
        yield
    finally:
        loaded.clear()
        loaded.update(before)
        sys.modules.update(own)


def _import(path: str) -> ModuleType:
    """Import by path. Inside a package it is imported as part of it, so that relative imports work."""
    student_loader.begin()
    folder, name = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    _search_first(folder)
    above = folder
    while above != os.getcwd() and above != os.path.dirname(above):  # `from src.attention import …`, from any depth
        above = os.path.dirname(above)
        if above not in sys.path:
            sys.path.append(above)
    top, dotted = folder, name
    while os.path.exists(os.path.join(top, "__init__.py")):
        dotted = f"{os.path.basename(top)}.{dotted}"
        top = os.path.dirname(top)
    if notebook_part.is_part(path):
        return notebook_part.run(path)
    if not path.endswith(".py"):
        raise ImportError(f"{os.path.basename(path)} is not a Python file")
    if dotted != name:
        _search_first(top)
        return importlib.import_module(dotted)
    spec = importlib.util.spec_from_file_location(name, path, loader=student_loader.OwnLoader(name, path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    later_modules.enter(name, module)
    spec.loader.exec_module(module)
    return module


def _as_part_of_all(path: str) -> ModuleType:
    return importlib.import_module(f"{package_of(path)}.{os.path.splitext(os.path.basename(path))[0]}")


def package_of(path: str) -> str:
    """For relative imports without an __init__.py, or to above the topmost: the package of a file as if all that was
    handed in were one, which is made.

    A folder with a dot in its name can be no part of one, so it is then the topmost.
    """
    top, names = os.getcwd(), list[str]()
    for folder in os.path.relpath(path, top).split(os.sep)[:-1]:
        names.append(folder)
        if "." in folder:
            top, names = os.path.join(top, *names), []
    package = ModuleType(_PACKAGE)
    package.__path__ = [top]
    sys.modules[_PACKAGE] = package
    return ".".join([_PACKAGE, *names])


def _search_first(folder: str) -> None:
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)


def describe(error: BaseException) -> dict[str, Any]:
    """Type, text and the place in the student's own files, as plain values."""
    try:
        # Where the box keeps its copy differs from run to run, and is nobody's concern.
        text = str(error).replace(os.getcwd() + os.sep, "")[:_TEXT_LIMIT]
    except BaseException:  # __str__ is the student's code as well
        text = ""
    file, line = _place(error)
    # numpy raises a private subclass and torch a RuntimeError; to a student both are the same event.
    out_of_memory = isinstance(error, MemoryError) or "can't allocate memory" in text
    kind = "MemoryError" if out_of_memory else type(error).__name__[:80]
    missing = str(error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    return {"type": kind, "text": text, "file": file, "line": line, "missing": missing[:_TEXT_LIMIT]}


def _place(error: BaseException) -> tuple[str, int]:
    """The innermost line that is the student's: where to look."""
    root = os.getcwd() + os.sep
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(root):
        return str(error.filename)[len(root) :], int(error.lineno or 0)
    place = ("", 0)
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename.startswith(root):
            place = (frame.f_code.co_filename[len(root) :], line)
    return place
