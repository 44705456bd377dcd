"""The grader's source as students get it: of checks only what their own need, of nothing else a word too many.

Comments and docstrings of what reads and judges answers are left out too: their examples are right answers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import grader
from grader.release.needs import is_cut, needs_of
from grader.release.sources import Definition, Module, find_module, imports, is_check, names_bound

_PACKAGE = Path(grader.__file__).parent
_ON_DEMAND = ("grader.formulas", "grader.prose")  # whole modules, where something needs them
_WITHOUT_WORDS = tuple(f"grader.{name}" for name in ("answers", "checks", "formulas", "prose", "proving", "report"))
_REFERENCE, _FACTS = "reference.", "grader.facts."  # where students find what of the reference is no answer
_LITTER = "__pycache__"


def students_source(checks: Iterable[Definition], beside: Module | None) -> tuple[dict[str, bytes], str]:
    """The files of the package for these checks, by path; and the source of what of them stands beside the rubric."""
    always = [module for module in _modules() if not is_cut(module) and not _is_within(module, _ON_DEMAND)]
    roots = [*checks, *(used for module in always for used in _imported(module))]
    needs = needs_of(roots, beside)
    whole = _closure([*always, *needs.modules])
    files = {_path(module): _text(module).encode() for module in whole}
    by_module: dict[str, set[str]] = {}
    for one in needs.definitions:
        by_module.setdefault(one.module, set()).add(one.name)
    own = ""
    for name, wanted in by_module.items():
        if beside is not None and name == beside.name:
            own = cut_to(beside, wanted)
        elif (module := find_module(name)) is not None:
            files[_path(_renamed(name))] = cut_to(module, wanted).encode()
    for path in list(files):  # every folder on the way is a package
        for folder in Path(path).parents:
            if folder.parts:
                files.setdefault(f"{folder.as_posix()}/__init__.py", b"")
    return files | dict(_other_files()), own


def _modules() -> Iterator[str]:
    for path in sorted(_PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def _is_within(module: str, packages: Iterable[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


@cache
def _imported(module: str) -> tuple[Definition, ...]:
    """What a whole module imports from the project, at its top or inside."""
    found = find_module(module)
    nodes = ast.walk(found.tree) if found else ()
    return tuple(one for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for one in imports(node))


def _closure(modules: Iterable[str]) -> set[str]:
    """Whole modules, and those whole modules they import."""
    waiting, seen = list(modules), set[str]()
    while waiting:
        module = waiting.pop()
        if module not in seen and not is_cut(module):
            seen.add(module)
            waiting += [one.module for one in _imported(module) if one.module.startswith("grader")]
            waiting.append(module.rpartition(".")[0] or module)
    return seen


def _path(module: str) -> str:
    found = find_module(module)
    is_package = found is not None and found.path.name == "__init__.py"
    return f"{module.replace('.', '/')}{'/__init__' if is_package else ''}.py"


def _renamed(module: str) -> str:
    return _FACTS + module.removeprefix(_REFERENCE) if module.startswith(_REFERENCE) else module


@cache
def _text(module: str) -> str:
    found = find_module(module)
    assert found is not None
    text = found.path.read_text(encoding="utf-8")
    if not _is_within(module, _WITHOUT_WORDS):
        return text
    tree = ast.parse(text)
    _without_docstrings(tree)
    return ast.unparse(tree) + "\n"


def cut_to(module: Module, wanted: set[str]) -> str:
    """The module with these definitions only."""
    tree = ast.parse(module.path.read_text(encoding="utf-8"))
    body: list[ast.stmt] = []
    for statement in tree.body:
        bound = list(names_bound(statement))
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            body.append(statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            statement.names = [alias for alias, name in zip(statement.names, bound, strict=True) if name in wanted]
            if isinstance(statement, ast.ImportFrom) and statement.module:
                statement.module = _renamed(statement.module)
            body += [statement] if statement.names else []
        elif wanted.intersection(bound):
            body.append(statement)
    tree.body = body
    _without_docstrings(tree)
    return ast.unparse(tree) + "\n"


def _without_docstrings(tree: ast.Module) -> None:
    """Except those of checks, whose first line is what students read."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) or ast.get_docstring(node) is None:
            continue
        if is_check(node):
            first = (ast.get_docstring(node) or "").split("\n")[0]
            node.body[0] = ast.Expr(ast.Constant(first))
        else:
            node.body = node.body[1:] or [ast.Pass()]
    ast.fix_missing_locations(tree)


def _other_files() -> Iterator[tuple[str, bytes]]:
    """Grammar, templates, schemas."""
    for path in sorted(_PACKAGE.rglob("*")):
        if path.is_file() and path.suffix != ".py" and _LITTER not in path.parts:
            yield path.relative_to(_PACKAGE.parent).as_posix(), path.read_bytes()


def held_back(files: Mapping[str, bytes]) -> Iterator[Path]:
    """Source files of the package that students get nothing of."""
    for module in _modules():
        found = find_module(module)
        if found is not None and _path(module) not in files:
            yield found.path
