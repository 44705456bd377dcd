"""Names of a page such as `grader/api.py`, loaded one by one: who wants `check` does not wait for the engine."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

_IMPORT = re.compile(r"^from (\S+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


def lazy_name(package: str, page: str, name: str) -> object:
    """What a page of this package imports under this name; AttributeError, if it imports no such thing."""
    place = _places(package, page).get(name)
    if place is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return getattr(import_module(place), name)


@cache
def _places(package: str, page: str) -> dict[str, str]:
    text = (Path(sys.modules[package].__path__[0]) / f"{page}.py").read_text(encoding="utf-8")
    lines = _IMPORT.findall(text)
    return {name.strip(): module for module, many, few in lines for name in (many or few).split(",") if name.strip()}
