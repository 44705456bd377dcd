"""The part of a notebook that some names need: their definitions, and by name whatever those refer to.

A name means what it would mean after all cells ran from top to bottom: its last definition counts. Calls, loops and
output are no part of a definition, so nothing is trained, plotted or asserted, and what only they need is not imported.
"""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from grader.sandbox.box.reading.scopes import bound_names, is_main_guard, names_used, root_name, run_with, stored_names
from grader.submission.notebooks.notebook_cells import Notebook

Kind = Literal["definition", "import", "value", "patch", "run"]

DEFINED = 2
_LEVELS = {"definition": DEFINED, "value": 1}
_MAX_STEPS = 20_000  # a notebook that takes more was not written by hand; what is then missing is a NameError


@dataclass(frozen=True)
class _Statement:
    at: int  # its place among all statements
    cell: int  # index among the notebook's cells
    index: int  # among the cell's statements
    node: ast.stmt
    kind: Kind
    binds: frozenset[str]
    changes: frozenset[str]  # names of what it changes in place

    @cached_property
    def uses(self) -> tuple[set[str], set[str]]:
        """Names it needs at once, and when it is called. Annotations are never evaluated, so they need none."""
        return names_used(self.node, annotations=False)


class Definitions:
    """What a notebook's statements bind."""

    def __init__(self, notebook: Notebook) -> None:
        self._notebook = notebook
        self._statements = _statements(notebook)
        self._end = len(self._statements)
        self._lasting: dict[str, list[_Statement]] = {}  # definitions and imports of a name, in their order
        self._values: dict[str, list[_Statement]] = {}
        for one in self._statements:
            by_name = {"definition": self._lasting, "import": self._lasting, "value": self._values}.get(one.kind, {})
            for name in one.binds:
                by_name.setdefault(name, []).append(one)

    def level(self, name: str) -> int:
        """DEFINED if the notebook defines the name, 1 if it assigns it some value, else 0; an import is neither."""
        return max((_LEVELS.get(one.kind, 0) for one in self._statements if name in one.binds), default=0)

    def part(self, asked: set[str]) -> dict[str, Any]:
        """What the sandbox needs to define these names: which statements of which cells, and which names they use."""
        names, needed = self._needed(asked)
        indices: dict[int, list[int]] = {}
        for at in sorted(needed):
            indices.setdefault(self._statements[at].cell, []).append(self._statements[at].index)
        cells = [(self._notebook.cells[cell], keep) for cell, keep in indices.items()]
        return {
            "names": sorted(names),
            "cells": [{"cell": cell.number, "source": cell.source, "keep": keep} for cell, keep in cells],
        }

    def _needed(self, asked: set[str]) -> tuple[set[str], set[int]]:
        """The names asked for with all that they refer to, and the places of the statements that these need."""
        names: set[str] = set()
        needed: set[int] = set()
        seen: set[tuple[str, int]] = set()
        waiting = [(name, self._end) for name in sorted(asked)]  # what names mean before some statement
        while waiting and len(seen) < _MAX_STEPS:
            name, before = waiting.pop()
            if (name, before) not in seen:
                seen.add((name, before))
                names.add(name)
                if meaning := self._meaning(name, before):
                    needed.add(meaning.at)
                    waiting += self._uses(meaning, before)
            if not waiting:  # then with what changes these in place
                changing = [one for one in self._statements if one.changes & names and one.at not in needed]
                needed |= {one.at for one in changing}
                waiting = [use for one in changing for use in self._uses(one, self._end)]
        bound = {name for one in self._statements for name in one.binds}
        if any(name not in bound and not hasattr(builtins, name) for name in names):  # a star import may hold it
            needed |= {one.at for one in self._statements if isinstance(one.node, ast.ImportFrom) and "*" in one.binds}
        return names, needed

    def _meaning(self, name: str, before: int) -> _Statement | None:
        """The last definition or import. A value assigned to the name of a function is the result of trying it out."""
        for statements in (self._lasting.get(name, []), self._values.get(name, [])):
            if count := bisect_left(statements, before, key=lambda one: one.at):
                return statements[count - 1]
        return None

    def _uses(self, statement: _Statement, before: int) -> list[tuple[str, int]]:
        at_once, later = statement.uses  # it may be called before the cells are through
        return [(name, statement.at) for name in at_once] + [(name, at) for name in later for at in {self._end, before}]


def _statements(notebook: Notebook) -> list[_Statement]:
    nodes = [(cell, index, node) for cell, one in enumerate(notebook.cells) for index, node in enumerate(one.body)]
    defined = {node.name for _, _, node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bindings = [_binding(node, defined) for _, _, node in nodes]
    imported = {name for kind, binds in bindings if kind == "import" for name in binds}
    return [
        _Statement(at, cell, index, node, kind, frozenset(binds), frozenset(_changed(node, kind, binds) - imported))
        for at, ((cell, index, node), (kind, binds)) in enumerate(zip(nodes, bindings, strict=True))
    ]


def _changed(node: ast.stmt, kind: Kind, binds: set[str]) -> set[str]:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[first, *_])):
            return {root_name(first)}
        case ast.AugAssign(target=ast.Attribute() | ast.Subscript() as target):
            return {root_name(target)}
        case ast.FunctionDef(decorator_list=decorators) | ast.ClassDef(decorator_list=decorators):
            return {name for decorator in decorators for name in _completed_by(decorator)}
    return binds if kind == "patch" else set()


def _completed_by(decorator: ast.expr) -> set[str]:
    """`@add_to_class(Encoder)` and `@Encoder.method` add to Encoder; `@timed` adds to nothing."""
    called = decorator
    while isinstance(called, ast.Call):
        called = called.func
    names = {inner.id for inner in ast.walk(decorator) if isinstance(inner, ast.Name)}
    return names - {called.id} if isinstance(called, ast.Name) else names


def _binding(node: ast.stmt, defined: set[str]) -> tuple[Kind, set[str]]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return "definition", {name}
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return "import", {name for alias in aliases for name in bound_names(alias)}
        case ast.Assign(targets=targets, value=value):
            names = {name for target in targets for name in stored_names(target)}
            if not names:  # `Block.forward = forward`, `CONFIG["dim"] = 8`
                return "patch", {root_name(target) for target in targets}
            alias = isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in defined)
            return ("definition" if alias else "value"), names
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()) | ast.AugAssign(target=ast.Name(id=name)):
            return "value", {name}
        case ast.If() | ast.Try():
            return _compound_binding(node, defined)
    return "run", set()


def _compound_binding(node: ast.If | ast.Try, defined: set[str]) -> tuple[Kind, set[str]]:
    """`try: import x` and `if cuda: device = …` bind names; tests under `__main__`, and loops, are runs."""
    inner = [one for one, _ in run_with([node])]
    main = is_main_guard(node) or any(isinstance(one, ast.Name) and one.id == "__name__" for one in inner)
    if main or any(isinstance(one, ast.For | ast.While) for one in inner):
        return "run", set()
    # What stands in an inner `if` or `elif` is in `inner` itself: to ask the inner one again would double with each.
    simple = [one for one in inner if isinstance(one, ast.stmt) and not isinstance(one, ast.If | ast.Try)]
    bindings = [_binding(one, defined) for one in simple]
    kinds = {kind for kind, names in bindings if names}
    names = {name for kind, bound in bindings if kind != "patch" for name in bound}
    return next((kind for kind in ("definition", "import") if kind in kinds), "value"), names
