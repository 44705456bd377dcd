"""The one function of the course's own `utils.py` that a baseline uses, for those who did not hand that in."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(fullname, self) if fullname == "utils" else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
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
    """Last in line: a `utils.py` that was handed in is found first."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def is_ours(module: ModuleType | None) -> bool:
    return isinstance(getattr(module, "__loader__", None), _Finder)
