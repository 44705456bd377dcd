"""What the names in a student's source stand for: something of a library's, something of the student's own, or neither.

What reading cannot tell is None: a parameter, what a call returns, an item of a list.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import os
from collections.abc import Iterable
from typing import NamedTuple

from ..loading import student_loader
from ..loading.stand_ins import KNOWN
from ..loading.student_code import is_own, parsed
from .scopes import Definition, Imported, Scope, Value

IMPORTING = {"importlib.import_module", "builtins.__import__"}
_MAX_FILES = 200
_MAX_STEPS = 50  # from a name to what it stands for; nobody writes a longer chain of second names


class Library(NamedTuple):
    """A library, or what its dotted path leads to; Python's own functions are `builtins`."""

    path: str


class Own(NamedTuple):
    """A file or folder of the student's, as an import sees it."""

    stem: str
    top: Scope | None  # None for a folder without __init__.py


Meaning = Library | Definition | Own | None
End = Meaning | Value


class Sources:
    """The student's files, each read when a name leads into it."""

    def __init__(self) -> None:
        self._tops: dict[str, Scope] = {}
        self._names: dict[tuple[Scope, str], list[Meaning]] = {}  # so that no tangle of names takes long
        self._modules: dict[tuple[str, int, str], Own | None] = {}
        self.shown: dict[int, str] = {}  # the file, or the cell of a notebook, that a node is in
        self.complete = True  # a submission can have more files than anyone would write

    def top(self, path: str) -> Scope | None:
        if path not in self._tops:
            if len(self._tops) >= _MAX_FILES:
                self.complete = False
                return None
            self._tops[path] = scope = Scope(path)
            for shown, tree in parsed(path):
                scope.trees.append(tree)
                self.shown.update((id(node), shown) for node in ast.walk(tree))
                scope.collect(tree.body, is_module=True)
        return self._tops[path]

    def meanings(self, node: ast.AST, scope: Scope, steps: int = 0) -> list[Meaning]:
        """Everything an expression may stand for, at the end of all second names."""
        if steps > _MAX_STEPS:
            return [None]
        key = (scope, node.id) if isinstance(node, ast.Name) else None
        if key in self._names:
            return self._names[key]
        if key is not None:
            self._names[key] = []  # what leads back to itself adds nothing
        found: list[Meaning] = []
        for end in self.ends(node, scope, steps + 1):
            if isinstance(end, Value):
                found += self.meanings(end.node, end.scope, steps + 1) if end.whole else [None]
            else:
                found.append(end)
        found = list(dict.fromkeys(found))
        if key is not None:
            self._names[key] = found
        return found

    def ends(self, node: ast.AST, scope: Scope, steps: int = 0) -> list[End]:
        """Where an expression leads, through all imports: a name, an attribute, or a call that looks one up."""
        match node:
            case ast.Name(id=name):
                return self._named(name, scope, steps)
            case ast.Attribute(value=value, attr=name):
                return self._attributes(value, name, scope, steps)
            case ast.Call(func=called, args=arguments):
                return self._looked_up(called, arguments, scope, steps)
            case ast.IfExp(body=one, orelse=other):
                return [Value(one, scope), Value(other, scope)]
            case ast.NamedExpr(value=value):
                return [Value(value, scope)]
        return [None]

    def imported(self, origin: Imported, scope: Scope, steps: int = 0) -> list[End]:
        """What a statement of this scope's file takes from a module."""
        asked = (origin.module, origin.level, os.path.dirname(scope.path))
        if asked not in self._modules:
            self._modules[asked] = self._own_module(*asked)
        own = self._modules[asked]
        if own is not None:
            return self._attribute(own, origin.name, steps) if origin.name and steps <= _MAX_STEPS else [own]
        # A module that is neither installed nor known is more likely the student's, and not handed in.
        is_library = not origin.level and _is_known(origin.module.partition(".")[0])
        return [Library(".".join(filter(None, (origin.module, origin.name)))) if is_library else None]

    def _named(self, name: str, scope: Scope, steps: int) -> list[End]:
        if (bindings := scope.find(name)) is not None:
            found = (
                [one] if not isinstance(one, Imported) else self.imported(one, scope, steps + 1) for one in bindings
            )
            return [end for ends in found for end in ends]
        if hasattr(builtins, name):
            return [Library(f"builtins.{name}")]
        stars = (self.imported(star._replace(name=name), scope, steps + 1) for star in scope.top.stars)
        return [end for ends in stars for end in ends if end is not None] or [None]

    def _attributes(self, value: ast.expr, name: str, scope: Scope, steps: int) -> list[End]:
        return [end for base in self.meanings(value, scope, steps + 1) for end in self._attribute(base, name, steps)]

    def _attribute(self, base: Meaning, name: str, steps: int) -> list[End]:
        match base:
            case Library(path):
                return [Library(f"{path}.{name}")]
            case Own(_, Scope() as top) if name in top.bound or top.stars:
                return self._named(name, top, steps + 1)
            case Own(stem):
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
                return self.imported(Imported(root, "", 0), scope, steps)
        return [None]

    def _own_module(self, module: str, level: int, folder: str) -> Own | None:
        """The student's file or package that an import means: beside this file or at the top of the submission; if no
        library has that name, anywhere: `sys.path.append("lib")` is common."""
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        parts = [part for part in module.split(".") if part]

        def first(folders: Iterable[str]) -> Own | None:
            return next(filter(None, (self._own(os.path.join(folder, *parts)) for folder in folders)), None)

        near = first([folder] if level else [folder, ""])
        if near or level or _is_known(parts[0] if parts else ""):
            return near
        return first(os.path.relpath(found, ".") for found, _, _ in os.walk("."))

    def _own(self, stem: str) -> Own | None:
        folder, name = os.path.split(stem)
        other_letters = os.path.join(folder, student_loader.in_other_letters(name, folder) or name)
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
