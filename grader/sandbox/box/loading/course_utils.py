"""The one function of the course's own `utils.py` that a baseline uses, for those who did not hand that in.

It stands in under every name that a script may import it by: `utils`, `src.utils`, `.utils`.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from .later_modules import later


class _Finder:
    top = ""  # of the submission

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        is_theirs = any(f"{folder}{os.sep}".startswith(self.top + os.sep) for folder in path or ())
        if fullname == "src" or (name == "utils" and (not package or is_theirs or is_ours(sys.modules.get(package)))):
            loader: Any = self  # no importlib.abc.Loader: with that, shutil, bz2 and lzma would be loaded for every box
            return importlib.machinery.ModuleSpec(fullname, loader, is_package=fullname == "src")
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ != "src":
            vars(module)["evaluate_places"] = _evaluate_places


def _evaluate_places(filepath: str, predicted_places: Sequence[str]) -> tuple[float, float]:
    """How many questions the file holds, and how many of these places are right; as floats, like the course's."""
    with open(filepath, encoding="utf-8") as file:
        rows = [line.strip().split("\t") for line in file]
    if len(rows[0]) == 1:  # questions without places
        return 0.0, 0.0
    if len(rows) != len(predicted_places):
        raise AssertionError(f"{len(predicted_places)} places for {len(rows)} questions")
    right = sum(row[1] == place for row, place in zip(rows, predicted_places, strict=True))
    return float(len(rows)), float(right)


def offer() -> None:
    """Last in line: a `utils.py` that was handed in is found first. The working directory is the top of the work."""
    _Finder.top = os.getcwd()
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def are_used() -> bool:
    return any(is_ours(module) and "evaluate_places" in vars(module) for _, module in later())


def is_ours(module: ModuleType | None) -> bool:
    return isinstance(getattr(module, "__dict__", {}).get("__loader__"), _Finder)
