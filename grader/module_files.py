"""Modules that are loaded by path: the checks that a rubric brings. Every process loads such a file the same way."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


class _UncachedLoader(importlib.machinery.SourceFileLoader):
    """Python's own cache goes by seconds and sizes: who swaps two letters and tries again would get the old code."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def load_module(name: str, path: Path) -> ModuleType:
    """Run a file as a module of this name. It can be found by its name from then on, as pickle and dataclasses do."""
    spec = importlib.util.spec_from_file_location(name, path, loader=_UncachedLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def file_of(function: Callable[..., Any]) -> Path | None:
    """The file of a function whose module was loaded by path; None if the module is imported by name."""
    loader = getattr(inspect.unwrap(function), "__globals__", {}).get("__loader__")
    return Path(loader.path).absolute() if isinstance(loader, _UncachedLoader) else None
