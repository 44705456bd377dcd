"""The grader's source as students get it: whole modules, without words, and of judging only what their checks need.

Comments and docstrings are left out, because their examples are right answers. What is no secret of the reference goes
by another name, so that students have no package of that one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import grader
from grader.release.answers_held import holds_answers, is_on_demand
from grader.release.sources import REFERENCE, Module, find_module, is_check, names_bound, with_all_they_import

_PACKAGE = Path(grader.__file__).parent
_FACTS = "grader.facts"  # what of the reference students are told
_ROOM = "room_of_commands"
_RUBRIC_TO_BEGIN_WITH = _PACKAGE / "authoring" / "template"  # authors change it into their own: it holds answers
_LITTER = "__pycache__"


def students_source(needed: Iterable[str]) -> dict[str, bytes]:
    """The files of the package by path, with the modules that checks need."""
    always = [module for module in _modules() if not is_on_demand(module)]
    modules = with_all_they_import([*always, *needed])
    answers = [module for module in modules if holds_answers(module)]
    assert not answers, f"{answers} would go to students"
    files = {_path(module): _text(module).encode() for module in modules}
    for path in list(files):  # every folder on the way is a package
        for folder in Path(path).parents:
            if folder.parts:
                files.setdefault(f"{folder.as_posix()}/__init__.py", b"")
    return files | dict(_other_files())


def _modules() -> Iterator[str]:
    for path in sorted(_PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def _path(module: str) -> str:
    found = find_module(module)
    is_package = found is not None and found.path.name == "__init__.py"
    return f"{_renamed(module).replace('.', '/')}{'/__init__' if is_package else ''}.py"


def _renamed(module: str) -> str:
    root, dot, rest = module.partition(".")
    return f"{_FACTS}{dot}{rest}" if root == REFERENCE else module


@cache  # most of it is the same in every kit
def _text(module: str) -> str:
    found = find_module(module)
    assert found is not None
    return without_words(found)


def without_words(module: Module, only: frozenset[str] | None = None) -> str:
    """The module; of one beside a rubric, only these definitions."""
    tree = ast.parse(module.path.read_text(encoding="utf-8"))
    if only is not None:
        tree.body = list(_kept(tree.body, only))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            node.module = _renamed(node.module)
    _drop_docstrings(tree)
    return ast.unparse(tree) + "\n"


def _kept(body: Iterable[ast.stmt], wanted: frozenset[str]) -> Iterator[ast.stmt]:
    for statement in body:
        bound = list(names_bound(statement))
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            yield statement
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            statement.names = [alias for alias, name in zip(statement.names, bound, strict=True) if name in wanted]
            if statement.names:
                yield statement
        elif wanted.intersection(bound):
            yield statement


def _drop_docstrings(tree: ast.Module) -> None:
    """Except those that are read while it runs: of commands, and the first line of checks."""
    commands = set(_commands(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) or ast.get_docstring(node) is None:
            continue
        if is_check(node):
            first = (ast.get_docstring(node) or "").split("\n")[0]
            node.body[0] = ast.Expr(ast.Constant(first))
        elif isinstance(node, ast.Module) or node.name not in commands:
            node.body = node.body[1:] or [ast.Pass()]
    ast.fix_missing_locations(tree)


def _commands(tree: ast.Module) -> Iterator[str]:
    """Functions that a module makes commands of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _ROOM:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            yield from (one.id for one in given if isinstance(one, ast.Name))


def _other_files() -> Iterator[tuple[str, bytes]]:
    """Grammar, templates, schemas."""
    for path in sorted(_PACKAGE.rglob("*")):
        if path.is_relative_to(_RUBRIC_TO_BEGIN_WITH):
            continue
        if path.is_file() and path.suffix != ".py" and _LITTER not in path.parts:
            yield path.relative_to(_PACKAGE.parent).as_posix(), path.read_bytes()
