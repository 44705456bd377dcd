"""What the names in a student's source stand for: something of a library's, something of the student's own, or neither.

What reading cannot tell is None: a parameter, what a call returns, an item of a list.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from ..loading import student_loader as own_source
from ..loading.stand_ins import KNOWN
from ..loading.student_code import is_own, parsed
from .scopes import Binding, Definition, Imported, Place, Scope, Value, collect

IMPORTING = {"importlib.import_module", "builtins.__import__"}
_MAX_FILES = 200
_MAX_STEPS = 50  # from a name to what it stands for; nobody writes a longer chain of second names


@dataclass(frozen=True)
class Library:
    """A library, or what its dotted path leads to; Python's own functions are `builtins`."""

    path: str


@dataclass(frozen=True)
class Own:
    """A file or folder of the student's, as an import sees it."""

    stem: str
    top: Scope | None = field(compare=False)  # None for a folder without __init__.py


Meaning = Library | Definition | Own | None
End = Meaning | Value


class Sources:
    """The student's files, each read when a name leads into it."""

    def __init__(self) -> None:
        self._tops: dict[str, Scope] = {}
        self._names: dict[tuple[Scope, str], list[Meaning]] = {}  # found once, so that no tangle of names takes long
        self._modules: dict[tuple[str, int, str], Own | None] = {}
        self.shown: dict[int, str] = {}  # the file, or the cell of a notebook, that a node stands in
        self.complete = True  # a submission can have more files than anyone would write

    def top(self, path: str) -> Scope | None:
        if path not in self._tops:
            if len(self._tops) >= _MAX_FILES:
                self.complete = False
                return None
            self._tops[path] = scope = Scope(Place(path))
            for shown, tree in parsed(path):
                scope.place.trees.append(tree)
                self.shown.update((id(node), shown) for node in ast.walk(tree))
                collect(scope, tree.body, is_module=True)
        return self._tops[path]

    def meanings(self, node: ast.AST, scope: Scope, steps: int = 0, ends: list[End] | None = None) -> list[Meaning]:
        """Everything an expression may stand for. Where it leads need not be found again if that is known."""
        if steps > _MAX_STEPS:
            return [None]
        match node:
            case ast.IfExp(body=one, orelse=other):
                either = (*self.meanings(one, scope, steps + 1), *self.meanings(other, scope, steps + 1))
                return list(dict.fromkeys(either))
            case ast.NamedExpr(value=value):
                return self.meanings(value, scope, steps + 1)
            case ast.Name(id=name):
                if (scope, name) not in self._names:
                    self._names[scope, name] = []  # what leads back to itself adds nothing
                    self._names[scope, name] = self._meant(node, scope, steps)
                return self._names[scope, name]
        return self._meant(node, scope, steps, ends)

    def _meant(self, node: ast.AST, scope: Scope, steps: int, ends: list[End] | None = None) -> list[Meaning]:
        found: list[Meaning] = []
        for end in self.ends(node, scope, steps + 1) if ends is None else ends:
            match end:
                case Value(inner, place, True):
                    found += self.meanings(inner, place, steps + 1)
                case Value():
                    found.append(None)
                case _:
                    found.append(end)
        return list(dict.fromkeys(found))

    def ends(self, node: ast.AST, scope: Scope, steps: int = 0) -> list[End]:
        """Where a name, an attribute or a call that looks one up leads to, through all imports."""
        match node:
            case ast.Name(id=name):
                return self.named(name, scope, steps)
            case ast.Attribute(value=value, attr=name):
                return self._attributes(value, name, scope, steps)
            case ast.Call(func=called, args=arguments):
                return self._looked_up(called, arguments, scope, steps)
        return [None]

    def named(self, name: str, scope: Scope, steps: int = 0) -> list[End]:
        if (bindings := scope.find(name)) is not None:
            return [end for one in bindings for end in self._followed(one, scope, steps + 1)]
        if hasattr(builtins, name):
            return [Library(f"builtins.{name}")]
        stars = (self._imported(star.module, name, star.level, scope, steps + 1) for star in scope.place.stars)
        return [end for one in stars for end in one if end is not None] or [None]

    def imported(self, node: ast.ImportFrom, scope: Scope) -> list[End]:
        """What a statement takes out of a module."""
        found = (self._imported(node.module or "", alias.name, node.level, scope, 0) for alias in node.names)
        return [end for one in found for end in one]

    def _followed(self, binding: Binding, scope: Scope, steps: int) -> list[End]:
        if isinstance(binding, Imported):
            return self._imported(binding.module, binding.name, binding.level, scope, steps)
        return [binding]

    def _attributes(self, value: ast.expr, name: str, scope: Scope, steps: int) -> list[End]:
        found = (self._attribute(base, name, steps) for base in self.meanings(value, scope, steps + 1))
        return [end for one in found for end in one]

    def _attribute(self, base: Meaning, name: str, steps: int) -> list[End]:
        match base:
            case Library(path):
                return [Library(f"{path}.{name}")]
            case Own(stem, top):
                if top is not None and (name in top.bound or top.place.stars):
                    return self.named(name, top, steps + 1)
                return [self._own(os.path.join(stem, name))]
        return [None]

    def _looked_up(self, called: ast.expr, arguments: list[ast.expr], scope: Scope, steps: int) -> list[End]:
        """What `import_module("torch")` and `getattr(torch, "nn")` give; of other calls nothing is known."""
        for function in self.meanings(called, scope, steps + 1):
            path = function.path if isinstance(function, Library) else ""
            name = text_that_names(path, arguments)
            if name and path == "builtins.getattr":
                return self._attributes(arguments[0], name, scope, steps)
            if name and path in IMPORTING:
                root = name if path == "importlib.import_module" else name.partition(".")[0]
                return self._imported(root, "", 0, scope, steps)
        return [None]

    def _imported(self, module: str, name: str, level: int, scope: Scope, steps: int) -> list[End]:
        asked = (module, level, os.path.dirname(scope.place.path))
        if asked not in self._modules:
            self._modules[asked] = self._own_module(*asked)
        own = self._modules[asked]
        if own is None:
            # A module that is neither installed nor known is more likely the student's, and not handed in.
            is_library = not level and _is_known(module.partition(".")[0])
            return [Library(f"{module}.{name}" if name else module) if is_library else None]
        return self._attribute(own, name, steps) if name and steps <= _MAX_STEPS else [own]

    def _own_module(self, module: str, level: int, folder: str) -> Own | None:
        """The student's file or package that an import means: beside this file or above it, else anywhere."""
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        parts = [part for part in module.split(".") if part]
        near = [folder] if level else list(dict.fromkeys((folder, "")))
        found = (self._own(os.path.join(folder, *parts)) for folder in chain(near, self._further(parts, level)))
        return next((one for one in found if one is not None), None)

    def _further(self, parts: list[str], level: int) -> Iterator[str]:
        """Where else an import may find something: looked for only where it is not found nearby."""
        if not level and not _is_known(parts[0] if parts else ""):
            # `sys.path.append("lib")` is common; whatever is in the submission is the student's.
            yield from (os.path.relpath(found, ".") for found, _, _ in os.walk("."))

    def _own(self, stem: str) -> Own | None:
        folder, name = os.path.split(stem)
        other_letters = os.path.join(folder, own_source.in_other_letters(name, folder) or name)
        for path in (f"{stem}.py", os.path.join(stem, "__init__.py"), f"{other_letters}.py"):
            if os.path.isfile(path):
                return Own(stem, self.top(os.path.normpath(path)))
        holds_code = os.path.isdir(stem or ".") and any(name.endswith(".py") for name in os.listdir(stem or "."))
        return Own(stem, None) if holds_code else None


def text_that_names(path: str, arguments: list[ast.expr]) -> str:
    """What such a call looks up, if it is written in its place and not worked out."""
    place = 1 if path == "builtins.getattr" else 0
    match arguments[place : place + 1]:
        case [ast.Constant(value=str(name))]:
            return name
    return ""


def _is_known(package: str) -> bool:
    """Whether a library goes by this name; what is found on a path that the student's code has set is the student's."""
    if package in KNOWN:
        return True
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None and not is_own(spec.origin)
