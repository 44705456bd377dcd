"""The folder of a rubric as a Python package: what it holds of code, and how every process loads it alike.

    rubrics/NAME/   rubric.yaml
                    checks/ or checks.py   for staff: checks, references, inputs, provers
                    public/ or public.py   goes to students as it is: it holds no answer
                    probes.py              runs in the sandbox beside student code: it holds no answer

Its modules import each other relatively (`from ..public.shapes import …`).
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import marshal
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal

Room = Literal["checks", "public"]
ROOMS: tuple[Room, ...] = ("checks", "public")
PROBES = "probes.py"


@dataclass(frozen=True)
class Plugin:
    """The code of one rubric."""

    folder: Path

    @property
    def package(self) -> str:
        return "rubric_" + re.sub(r"\W", "_", self.folder.resolve().name)

    @property
    def probes(self) -> Path | None:
        return path if (path := self.folder / PROBES).is_file() else None

    @cached_property
    def modules(self) -> Mapping[str, Path]:
        """The modules that may define what a rubric names, by their full names."""
        return {f"{self.package}.{name}": path for room in ROOMS for name, path in _modules_in(self.folder, room)}

    def room_of(self, module: str) -> Room | None:
        """Which folder a module of it lies in; None for a module of anything else."""
        package, _, rest = module.partition(".")
        return next((room for room in ROOMS if package == self.package and rest.partition(".")[0] == room), None)

    @property
    def files(self) -> Sequence[Path]:
        return [*self.modules.values(), *([self.probes] if self.probes else [])]

    @cached_property
    def digest(self) -> str:
        named = [(path.relative_to(self.folder).as_posix(), path.read_bytes()) for path in self.files]
        return hashlib.sha256(repr(named).encode()).hexdigest() if named else ""

    def register(self) -> None:
        register(self.package, str(self.folder.resolve()), self.digest)

    def load(self, module: str) -> ModuleType:
        self.register()
        return importlib.import_module(module)


def _modules_in(folder: Path, room: Room) -> Iterator[tuple[str, Path]]:
    if (folder / f"{room}.py").is_file():
        yield room, folder / f"{room}.py"
    for path in sorted((folder / room).rglob("*.py")):
        name = path.relative_to(folder).with_suffix("").as_posix().replace("/", ".")
        yield name.removesuffix(".__init__"), path


# ---- probes: they run in the sandbox, where none of these folders can be read ----


@lru_cache(maxsize=16)
def _compiled(file: str, _changed_ns: int) -> bytes:
    return marshal.dumps(compile(Path(file).read_bytes(), PROBES, "exec"))


def probe_module(probe: Callable[..., Any]) -> tuple[str, bytes]:
    """The module of a rubric's probe, as it is sent to a sandbox: its name, and its code."""
    file = inspect.unwrap(probe).__code__.co_filename
    return probe.__module__, _compiled(file, Path(file).stat().st_mtime_ns)


# ---- loading: the same in the grader and in the process that judges formulas ----

_folders: dict[str, tuple[str, str]] = {}  # of each package: its folder, and the digest of its code


def registered() -> Mapping[str, tuple[str, str]]:
    """Every package that this process may have loaded modules of; another process registers them to unpickle."""
    return dict(_folders)


def register(package: str, folder: str, digest: str) -> None:
    """From now on the package lies there. Modules of the same name, from elsewhere or from before a change, are
    forgotten."""
    if _folders.get(package) == (folder, digest):
        return
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[name]
    _folders[package] = (folder, digest)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # before the one that would keep bytecode


class _UncachedLoader(SourceFileLoader):
    """Python's own cache goes by seconds and sizes: who swaps two letters and tries again would get the old code."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


class _Finder:
    """Finds the packages that are registered, and what lies in them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = fullname.partition(".")[0]
        if package not in _folders:
            return None
        if fullname == package:
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [_folders[package][0]]
            return spec
        found = PathFinder.find_spec(fullname, path)
        if found is not None and isinstance(found.loader, SourceFileLoader):
            found.loader = _UncachedLoader(fullname, found.loader.path)
        return found
