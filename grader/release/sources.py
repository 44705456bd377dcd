"""Source code as top-level definitions that refer to each other, within a module and across modules."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

OWN = ("grader", "reference")


@dataclass(frozen=True)
class Definition:
    """A name at the top level of a module; the module itself, without one."""

    module: str
    name: str = ""


@dataclass(frozen=True)
class Module:
    name: str
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @cached_property
    def defines(self) -> Mapping[str, ast.stmt]:
        """Top-level names, those of imports among them, with the statement that defines each."""
        return {name: statement for statement in self.tree.body for name in names_bound(statement)}

    def uses(self, name: str) -> Iterator[Definition]:
        """What the definition of a name refers to, here and in modules of the project. More at worst, never less:
        a local variable that goes by a top-level name counts as that name."""
        statement = self.defines[name]
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from imports(statement, only=name)
            return
        for node in ast.walk(statement):
            match node:
                case ast.Import() | ast.ImportFrom():
                    yield from imports(node)
                case ast.Name(id=other) if other in self.defines and other != name:
                    yield Definition(self.name, other)
                case ast.Attribute(value=ast.Name(id=alias), attr=attribute) if alias in self.defines:
                    yield from self._of_a_module(self.defines[alias], alias, attribute)

    def _of_a_module(self, statement: ast.stmt, alias: str, attribute: str) -> Iterator[Definition]:
        """`arithmetic.softmax`, where `arithmetic` was imported as a module."""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for target in imports(statement, only=alias):
                if not target.name:
                    yield Definition(target.module, attribute)


@cache
def find_module(name: str) -> Module | None:
    """A module of the project by its dotted name, found without importing it; None if there is none."""
    if name.split(".")[0] not in OWN:
        return None
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None
    return Module(name, Path(spec.origin)) if spec is not None and spec.origin else None


def names_bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name.split(".")[0] for alias in aliases)
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def is_check(node: ast.AST) -> bool:
    """Whether it is marked by `@check`, with or without arguments."""
    marks = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    names = (ast.unparse(mark.func if isinstance(mark, ast.Call) else mark) for mark in marks)
    return any(name.split(".")[-1] == "check" for name in names)


def roots_imported(tree: ast.AST) -> set[str]:
    """The top-level packages and modules that code imports, of the project or not."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


def imports(statement: ast.Import | ast.ImportFrom, only: str = "") -> Iterator[Definition]:
    """What an import statement brings from modules of the project; `only` what it binds to this name."""
    for alias in statement.names:
        if only and only != (alias.asname or alias.name.split(".")[0]):
            continue
        if isinstance(statement, ast.Import):
            if alias.name.split(".")[0] in OWN:
                yield Definition(alias.name)
        elif statement.module and statement.module.split(".")[0] in OWN:
            inner = f"{statement.module}.{alias.name}"
            yield Definition(inner) if find_module(inner) else Definition(statement.module, alias.name)
