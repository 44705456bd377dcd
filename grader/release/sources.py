"""Source code as it is written: modules, what they define, and what they import of the project."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

REFERENCE = "reference"
OWN = ("grader", REFERENCE)


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

    def refers_to(self, node: ast.AST) -> set[str]:
        """Top-level names that this code refers to, however indirectly. More at worst, never less: a local variable
        that goes by a top-level name counts as that name."""
        waiting, found = [node], set[str]()
        while waiting:
            used = {one.id for one in ast.walk(waiting.pop()) if isinstance(one, ast.Name)}
            new = used & self.defines.keys() - found
            found |= new
            waiting += [self.defines[name] for name in new]
        return found


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
    return {name.split(".")[0] for name, _ in _imported(tree)}


def modules_imported(*trees: ast.AST) -> list[str]:
    """The modules of the project that code imports, at its top or inside."""
    found: dict[str, None] = {}
    for module, name in (pair for tree in trees for pair in _imported(tree)):
        if module.split(".")[0] in OWN:
            inner = f"{module}.{name}" if name else ""
            found[inner if inner and find_module(inner) else module] = None
    return list(found)


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name; a module alone, where it is imported as one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:  # what is beside it needs no looking for
            yield from ((node.module or "", alias.name) for alias in node.names)


def with_all_they_import(modules: Iterable[str]) -> list[str]:
    """These modules of the project, what they import, and so on, nearest first; with the packages they are in."""
    found, waiting = dict[str, None](), list(modules)
    while waiting:
        name = waiting.pop(0)
        module = find_module(name)
        if module is not None and name not in found:
            found[name] = None
            waiting += [*_modules_imported_by(module), *filter(None, [name.rpartition(".")[0]])]
    return list(found)


@cache
def _modules_imported_by(module: Module) -> tuple[str, ...]:
    return tuple(modules_imported(module.tree))
