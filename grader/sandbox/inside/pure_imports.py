"""What a file takes from libraries and from the student's other files, as far as neither keeps anything."""

from __future__ import annotations

import ast
import os
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import PathFinder

from .own_source import is_below_home
from .pure_names import ALLOWED, SEEDED, TYPES, UNUSED

_OF_UFUNCS = {"reduce", "outer", "accumulate"}


class Keeps(Exception):
    """By this, code may keep something."""


def own_modules(file: str) -> dict[str, list[str]]:
    """The student's modules that the file could import, and where each may lie. Raises where not only it could."""
    found: dict[str, list[str]] = {}
    folder, home = os.path.dirname(os.path.abspath(file)), os.getcwd()
    while True:
        for name in os.listdir(folder):
            stem, _, kind = name.partition(".")
            path = os.path.join(folder, name)
            is_module = kind.endswith(("py", "pyc", "so")) or os.path.exists(os.path.join(path, "__init__.py"))
            if stem == "__init__":
                raise Keeps("a package")
            if is_module and _is_a_librarys(stem):  # others may import it unseen
                raise Keeps(f"something named {stem}")
            if is_module or os.path.isdir(path):
                found.setdefault(stem, []).append(path)
        if folder in (home, os.path.dirname(folder)):
            return found
        folder = os.path.dirname(folder)


def _is_a_librarys(name: str) -> bool:
    loaded = str(getattr(sys.modules.get(name), "__file__", None) or "")
    if name in sys.stdlib_module_names or (name in sys.modules and not is_below_home(loaded)):
        return True
    elsewhere = _not_below(os.getcwd(), tuple(sys.path))
    if (stems := _stems(elsewhere)) is not None and name not in stems:
        return False
    found = PathFinder.find_spec(name, list(elsewhere))  # libraries import some only once they need them
    return found is not None and found.loader is not None


@lru_cache(maxsize=4)  # asked of every name in a submission
def _not_below(here: str, path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(folder for folder in path if not os.path.abspath(folder).startswith(here))


@lru_cache(maxsize=4)  # the fork server finds them for all boxes
def _stems(folders: tuple[str, ...]) -> frozenset[str] | None:
    """The first words of all that lies in these folders: whatever can be imported from there is called by one. None if
    one is an archive, which Python looks into, too."""
    found = set[str]()
    for folder in folders:
        if os.path.isfile(folder):
            return None
        with suppress(OSError):  # nothing can be imported from there
            found.update(name.partition(".")[0] for name in os.listdir(folder))
    return frozenset(found)


class Imports:
    """The names that a file's imports bind."""

    def __init__(self, files: dict[str, list[str]]) -> None:
        self._files = files
        self.libraries: dict[str, str] = {}  # names, and the dotted names that they stand for
        self.modules: dict[str, str] = {}  # names of the student's own modules
        self.names: dict[str, tuple[str, str]] = {}  # and what is taken from them by a name of its own
        self.taken: set[tuple[str, str]] = set()
        self.values: set[tuple[str, str]] = set()  # of it, what is not only called
        self.used: set[str] = set()  # of libraries

    def bind(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """Note what it imports. Returns the names it binds."""
        if isinstance(node, ast.Import):
            return [self._module(alias.name, alias.asname) for alias in node.names]
        if node.level:
            raise Keeps("a relative import")
        if node.module == "__future__":
            return []
        return [self._from(node.module or "", alias.name, alias.asname or alias.name) for alias in node.names]

    def _module(self, module: str, name: str | None) -> str:
        top = module.partition(".")[0]
        bound = name or top
        if module in self._files:
            self.modules[bound] = module
        elif top not in self._files and (module in ALLOWED or top in UNUSED):
            self.libraries[bound] = module if name else top
        else:
            raise Keeps(f"import {module}")
        return bound

    def _from(self, module: str, name: str, bound: str) -> str:
        path = f"{module}.{name}"
        if module in self._files and name not in self._files and name != "*":
            self.names[bound] = (module, name)
            self.taken.add((module, name))
        elif module.partition(".")[0] in self._files or name == "*":
            raise Keeps(f"from {module} import {name}")
        else:
            self.libraries[bound] = path
            if path not in ALLOWED and not TYPES.fullmatch(path) and module.partition(".")[0] not in UNUSED:
                self.look_up(path)
        return bound

    @property
    def followed(self) -> set[str]:
        """The student's own modules that are to be read too."""
        return {*self.modules.values(), *(module for module, _ in self.taken)}

    def file_of(self, module: str) -> str:
        match self._files[module]:
            case [path] if path.endswith(".py"):
                return path
        raise Keeps(f"import {module}")

    def of_own(self, node: ast.AST) -> tuple[str, str] | None:
        """The student's other module, and the name in it, that an expression stands for."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in self.modules:
                return self.modules[name], attribute
        return None

    def dotted(self, node: ast.AST) -> str:
        """The library's name for an expression; nothing, if it is no library's."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.libraries:
            return ""
        return ".".join((self.libraries[node.id], *parts))

    def look_up(self, path: str, given: list[ast.expr] | None = None) -> None:
        """Raise unless a library's name, called with what is given or only named, keeps nothing."""
        match given:
            case [ast.Constant(value=int())] if path in SEEDED:
                return
        module, _, name = path.rpartition(".")
        if module not in ALLOWED and name in _OF_UFUNCS:
            module, _, name = module.rpartition(".")
        allowed = ALLOWED.get(module, frozenset())
        if not (name in allowed if isinstance(allowed, frozenset) else allowed.fullmatch(name)):
            raise Keeps(path)
        self.used.add(f"{module}.{name}")
