"""Find and import a student's file as it would import for the student; say where it goes wrong."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
import traceback
from types import ModuleType
from typing import Any

from . import notebook_part

_TEXT_LIMIT = 400


class Absent(Exception):
    """The file has no such name; `names` are those it does define."""

    def __init__(self, names: list[str]) -> None:
        super().__init__("absent")
        self.names = names


class ImportFailed(Exception):
    """The student's file raised while it was imported; `__cause__` is what it raised."""


loaded: dict[str, ModuleType] = {}


def attribute(file: str, name: str) -> Any:
    """`name` from the student's file, given relative to the submission."""
    module = load(file)
    try:
        return getattr(module, name)
    except AttributeError:
        raise Absent(sorted(key for key in vars(module) if not key.startswith("_"))[:20]) from None


def load(file: str) -> ModuleType:
    if file not in loaded:
        try:
            loaded[file] = _import(os.path.abspath(file))
        except BaseException as error:  # a student's module may raise anything, SystemExit included
            raise ImportFailed from error
    return loaded[file]


def parsed(file: str) -> list[tuple[str, ast.Module]]:
    """A student's source, not run: a file in one piece, a notebook cell by cell, each with the name to show."""
    try:
        if notebook_part.is_part(file):
            return notebook_part.trees(file)
        with open(file, "rb") as source:  # bytes, so that a BOM or a coding line is read as Python reads it
            return [(file, ast.parse(source.read(), os.path.abspath(file)))]
    except (SyntaxError, ValueError) as error:
        raise ImportFailed from error


def is_own(code_file: str) -> bool:
    """Whether code that says it comes from there is the student's."""
    return code_file.startswith(os.getcwd() + os.sep) or notebook_part.is_cell(code_file)


def _import(path: str) -> ModuleType:
    """Import by path. Inside a package it is imported as part of it, so that relative imports work."""
    folder, name = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    _search_first(folder)
    if os.getcwd() not in sys.path:  # `from hw.attention import …`, as when run from the top
        sys.path.append(os.getcwd())
    top, dotted = folder, name
    while os.path.exists(os.path.join(top, "__init__.py")):
        dotted = f"{os.path.basename(top)}.{dotted}"
        top = os.path.dirname(top)
    if notebook_part.is_part(path):
        return notebook_part.run(path)
    if dotted != name:
        _search_first(top)
        return importlib.import_module(dotted)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{os.path.basename(path)} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        if "no known parent package" not in str(error) or folder == os.getcwd():
            raise
        # Relative imports in a folder without __init__.py: as a part of its folder, as `python -m` would run it.
        inner = os.path.relpath(folder, os.getcwd()).replace(os.sep, ".")
        return importlib.import_module(f"{inner}.{name}")
    return module


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
    return {"type": kind, "text": text, "file": file, "line": line}


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
