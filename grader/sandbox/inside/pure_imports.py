"""What a file takes from libraries and from the student's other files, as far as neither keeps anything."""

from __future__ import annotations

import ast
import os

from .pure_names import ALLOWED, SEEDED, TYPES, UNUSED

_MOST_FILES = 200
_OF_UFUNCS = {"reduce", "outer", "accumulate"}
_TOPS = {known.partition(".")[0] for known in ALLOWED} | UNUSED


class Keeps(Exception):
    """By this, code may keep something."""


def own_files() -> dict[str, list[str]]:
    """The files of the submission that each name in an import may mean."""
    found: dict[str, list[str]] = {}
    count = 0
    for folder, folders, files in os.walk("."):
        for name in folders:
            found.setdefault(name, [])
        for name in files:
            stem, kind = os.path.splitext(name)
            if kind in (".py", ".so", ".pyc"):
                count += 1
                known = found.setdefault(os.path.basename(folder) if stem == "__init__" else stem, [])
                known.append(os.path.join(folder, name))
    if count > _MOST_FILES:
        raise Keeps(f"{count} files")
    return found


class Imports:
    """The names that a file's imports bind."""

    def __init__(self, files: dict[str, list[str]]) -> None:
        self._files = files
        self.libraries: dict[str, str] = {}  # names, and the dotted names that they stand for
        self.modules: dict[str, str] = {}  # names of the student's own modules
        self.followed: set[str] = set()  # the student's own modules that are to be read too
        self.taken: set[tuple[str, str]] = set()  # what is taken from them

    def bind(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """Note what it imports. Returns the names it binds."""
        if isinstance(node, ast.Import):
            return [self._module(alias.name, alias.asname) for alias in node.names]
        if node.module == "__future__":
            return []
        return [
            self._from(node.module or "", alias.name, alias.asname or alias.name, bool(node.level))
            for alias in node.names
        ]

    def _module(self, module: str, name: str | None) -> str:
        top = module.partition(".")[0]
        bound = name or top
        if self._is_own(module):
            if "." in module and not name:
                raise Keeps(f"import {module}")
            self.modules[bound] = module.rpartition(".")[2]
        elif module in ALLOWED or top in UNUSED:
            self.libraries[bound] = module if name else top
        else:
            raise Keeps(f"import {module}")
        return bound

    def _from(self, module: str, name: str, bound: str, relative: bool) -> str:
        last = module.rpartition(".")[2]
        if name == "*":
            raise Keeps("import *")
        if relative or self._is_own(module):
            if name in self._files:
                self.modules[bound] = name
                self.followed.add(name)
            elif last in self._files:
                self.followed.add(last)
                self.taken.add((last, name))
            else:
                raise Keeps(f"from {module} import {name}")
        else:
            path = f"{module}.{name}"
            self.libraries[bound] = path
            if path not in ALLOWED and module.partition(".")[0] not in UNUSED:
                self.look_up(path, called=False)
        return bound

    def _is_own(self, module: str) -> bool:
        """Whether a module is the student's. Of one that has a library's name nothing can be said."""
        parts = module.split(".")
        if parts[0] not in self._files:
            return False
        if parts[0] in _TOPS:
            raise Keeps(f"a file called {parts[0]}")
        self.followed.update(part for part in parts if part in self._files)
        return True

    def dotted(self, node: ast.AST) -> str:
        """The library's name for an expression; nothing, if it is no library's."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.libraries:
            return ""
        return ".".join((self.libraries[node.id], *parts))

    def look_up(self, path: str, called: bool, given: list[ast.expr] | None = None) -> None:
        """Raise unless a library's name keeps nothing, called with what is given or named only."""
        match given:
            case [ast.Constant(value=int())] if path in SEEDED:
                return
        if path in TYPES and not called:
            return
        module, _, name = path.rpartition(".")
        if module not in ALLOWED and name in _OF_UFUNCS:
            module, _, name = module.rpartition(".")
        allowed = ALLOWED.get(module, frozenset())
        if not (name in allowed if isinstance(allowed, frozenset) else allowed.fullmatch(name)):
            raise Keeps(path)
