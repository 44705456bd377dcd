"""Which checks exist: the grader's own, those of installed packages, and those of a rubric's own folder."""

from __future__ import annotations

import importlib
import pkgutil
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import grader.checks
from grader.errors import RubricError
from grader.plugins import PROBES, Plugin
from grader.quoting import quote
from grader.registry import Definition, definitions_in
from grader.rubric.own_functions import Kind, Offer, offers_in

_ENTRY_POINTS = "grader.checks"
_FUNCTION = re.compile(rb"^def ([a-zA-Z]\w*)\(", re.MULTILINE)  # not the private ones: they are no checks
_Found = TypeVar("_Found")


def known_checks(plugin: Plugin | None = None) -> Mapping[str, Definition]:
    """All checks by name. A rubric's own add to them, and replace none."""
    return definitions_in(_Modules(plugin).every())


class Catalogue(Mapping[str, Definition]):
    """The same checks, whose modules are loaded as they are asked for: no rubric uses all of them."""

    def __init__(self, plugin: Plugin) -> None:
        modules = _Modules(plugin)
        definitions_in(modules.defining_the_same())  # complains if a check has the name of another
        self._definitions = _AsNamed(modules, definitions_in)
        self.references: Mapping[str, Offer] = _AsNamed(modules, lambda some: offers_in(some, "reference"))
        self.inputs: Mapping[str, Offer] = _AsNamed(modules, lambda some: offers_in(some, "inputs"))
        self.adapters: Mapping[str, Offer] = _functions_of_probes(plugin)

    def offers(self, kind: Kind) -> Mapping[str, Offer]:
        return {"reference": self.references, "inputs": self.inputs, "adapter": self.adapters}[kind]

    def __getitem__(self, name: str) -> Definition:
        return self._definitions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)


def _functions_of_probes(plugin: Plugin) -> dict[str, Offer]:
    """The functions of the rubric's `probes.py`: any of them may stand between a check and a student's function."""
    if plugin.probes is None:
        return {}
    module = load_own(plugin, f"{plugin.package}.{plugin.probes.stem}")
    functions = [one for one in vars(module).values() if isfunction(one) and one.__module__ == module.__name__]
    return {one.__name__: Offer("adapter", one) for one in functions}


class _AsNamed(Mapping[str, _Found]):
    """What modules define: looked up in those whose text has a function of the name."""

    def __init__(self, modules: _Modules, found_in: Callable[[list[ModuleType]], Mapping[str, _Found]]) -> None:
        self._modules = modules
        self._found_in = found_in

    def __getitem__(self, name: str) -> _Found:
        return self._found_in(self._modules.defining(name))[name]

    def __iter__(self) -> Iterator[str]:
        """All names, as for a guess at what was meant: that loads everything."""
        return iter(self._found_in(self._modules.every()))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Modules:
    """Where checks may be defined."""

    def __init__(self, plugin: Plugin | None) -> None:
        self._plugin = plugin
        own = {name: path.read_bytes() for name, path in _own_files().items()}
        self._texts = own | {name: path.read_bytes() for name, path in (plugin.modules if plugin else {}).items()}
        self._packages = [_load_entry_point(entry.value) for entry in entry_points(group=_ENTRY_POINTS)]

    def every(self) -> list[ModuleType]:
        return [*map(self._load, self._texts), *self._packages]

    def defining(self, name: str) -> list[ModuleType]:
        """Those whose text has a function of this name, whether it is a check or not."""
        wanted = f"def {name}(".encode("utf-8", "replace")
        return [*(self._load(module) for module, text in self._texts.items() if wanted in text), *self._packages]

    def defining_the_same(self) -> list[ModuleType]:
        """Those of which the rubric's own have a function of a name that another has, too."""
        seen: dict[bytes, list[str]] = {}
        for module, text in self._texts.items():
            for name in set(_FUNCTION.findall(text)):
                seen.setdefault(name, []).append(module)
        own = self._plugin.modules if self._plugin else {}
        twice = {
            module
            for several in seen.values()
            if len(several) > 1 and not own.keys().isdisjoint(several)
            for module in several
        }
        return [*map(self._load, sorted(twice)), *self._packages]

    def _load(self, module: str) -> ModuleType:
        if self._plugin is None or module not in self._plugin.modules:
            return importlib.import_module(module)
        return load_own(self._plugin, module)


def _own_files() -> dict[str, Path]:
    """The modules below `grader/checks`, by name."""
    files = {}
    for one in pkgutil.walk_packages(grader.checks.__path__, "grader.checks."):
        spec = one.module_finder.find_spec(one.name, None)
        if spec is not None and spec.origin is not None:
            files[one.name] = Path(spec.origin)
    return files


def _load_entry_point(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:  # someone else's package: name it, whatever it raised
        raise RubricError([f"entry point {module}: cannot be imported: {type(error).__name__}: {error}"]) from error


def load_own(plugin: Plugin, module: str) -> ModuleType:
    """A module of a rubric's own; RubricError names the line at which importing it ended."""
    try:
        return plugin.load(module)
    except RubricError:
        raise
    except Exception as error:  # the author's file, whatever it raised
        cause = error.msg if isinstance(error, SyntaxError) else str(error)
        where = _place_in(plugin, plugin.modules.get(module, plugin.folder / PROBES), error)
        raise RubricError([f"{where}: cannot be imported: {type(error).__name__}: {quote(cause)}"]) from error


def _place_in(plugin: Plugin, path: Path, error: Exception) -> str:
    """File and line of the rubric's code at which an import ended."""
    own = {str(file.resolve()): file for file in plugin.files}
    if isinstance(error, SyntaxError) and error.filename in own:
        return f"{own[error.filename]}:{error.lineno or 1}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in own:
            return f"{own[frame.filename]}:{frame.lineno or 1}"
    return f"{path}:1"
