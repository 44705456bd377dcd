"""Which checks exist: the grader's own, those of installed packages, and those beside a rubric."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import grader.checks
from grader.errors import RubricError
from grader.registry import Definition, definitions_in

_ENTRY_POINTS = "grader.checks"


def known_checks(rubric: Path | None = None) -> Mapping[str, Definition]:
    """All checks by name. A `checks.py` beside the rubric adds to them, and replaces none."""
    found = pkgutil.walk_packages(grader.checks.__path__, "grader.checks.")
    modules = [module for one in found if (module := _load_own(one.name))]
    modules += [_load_entry_point(entry.value) for entry in entry_points(group=_ENTRY_POINTS)]
    if rubric is not None and (beside := rubric.parent / "checks.py").exists():
        modules.append(_load_file(beside))
    return definitions_in(modules)


def _load_own(module: str) -> ModuleType | None:
    """None for one that needs the reference where there is none, as on a student's machine: a rubric that uses its
    checks all the same is told that there is no such check."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] == "reference":
            return None
        raise


def _load_entry_point(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:  # someone else's package: name it, whatever it raised
        raise RubricError([f"entry point {module}: cannot be imported: {type(error).__name__}: {error}"]) from error


def name_beside(path: Path) -> str:
    """What the module of checks beside a rubric is called."""
    return f"rubric_checks_{path.parent.name}"


def _load_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name_beside(path), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the author's file: name it, whatever it raised
        raise RubricError([f"{path}: cannot be imported: {type(error).__name__}: {error}"]) from error
    return module
