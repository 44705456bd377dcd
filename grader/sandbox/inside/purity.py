"""Whether code keeps nothing from one question to the next: told by reading it, before any of it has run.

What is read is what is allowed, not what is forbidden. Code passes if nothing that outlives a call can be changed by
it, and nothing tells it how often it was called: the module binds functions, classes and values that never change;
attributes are set on `self` alone; classes are called or inherited from, and are no values; no exception is caught, no
text is made but for people; and of libraries it uses only what keeps nothing itself (`pure_names`). Everything else
gets a no, which costs time and nothing more: code that may keep something is asked in more boxes.
"""

from __future__ import annotations

import ast
import builtins
import os
from collections import Counter, deque
from collections.abc import Iterator

from . import notebook_part, own_source
from .pure_imports import Imports, Keeps, own_modules
from .pure_statements import Scope, Statements
from .pure_values import Known
from .scopes import is_main_guard
from .trees import is_read, walk

_found: dict[str, str] = {}  # files are read as they were when they were first asked about


def forget() -> None:
    _found.clear()


def what_it_may_keep(file: str) -> str:
    """By what the student's file, or one that it imports, may keep something; nothing, if it cannot."""
    if file not in _found:
        _found[file] = _what_it_may_keep(file)
    return _found[file]


def _what_it_may_keep(file: str) -> str:
    waiting, read = deque([os.path.abspath(file)]), dict[str, Known]()
    try:
        if notebook_part.is_part(file):
            raise Keeps("a notebook")
        own = own_modules(file)
        while waiting:
            path = waiting.popleft()
            if path not in read:
                read[path] = _read(path, own)
                waiting += map(read[path].imports.file_of, read[path].imports.followed)
        for one in read.values():
            for module, name in one.imports.taken:
                if name not in read[one.imports.file_of(module)].gives:
                    raise Keeps(f"{module}.{name}")
    except Keeps as kept:
        return str(kept)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:  # importing it will say more
        return type(error).__name__
    return ""


def _read(path: str, own: dict[str, list[str]]) -> Known:
    """The names of one file. Raises Keeps if it may keep something."""
    known = Known(Imports(own))
    nodes = [node for node in own_source.parse(path).body if not _runs_alone(node)]
    known.bound = Counter(name for node in nodes for name in _binds(node, known))
    for name in (*known.imports.libraries, *known.imports.modules, *known.classes):
        if known.bound[name] > 1:  # what it means depends on the place
            raise Keeps(f"{name} has two meanings")
    for name in known.bound:
        if hasattr(builtins, name) and not name.startswith("__"):
            raise Keeps(f"another {name} than Python's")
    statements = Statements(known)
    for node in nodes:
        if names := _given_by(node, known):
            known.gives.update(names)
            statements.look(node, Scope())
    return known


def _runs_alone(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and is_main_guard(node) and not node.orelse


def _binds(node: ast.AST, known: Known) -> Iterator[str]:
    """Every name that is bound anywhere; imports and classes are noted by the way."""
    for one in walk(node):
        match one:
            case ast.Name(id=name) if is_read(one):
                pass
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Import() | ast.ImportFrom():
                before = len(known.imports.followed)
                yield from known.imports.bind(one)
                if one is not node and len(known.imports.followed) > before:
                    raise Keeps("an import while it runs")
            case ast.ClassDef(name=name):
                known.classes.add(name)
                yield name


def _given_by(node: ast.stmt, known: Known) -> list[str]:
    """The names that a statement at the top gives to functions, classes or values that never change. Raises where what
    has such a name may change."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return []
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if known.makes_logger(value):
            known.loggers.add(name)
            return []
        case ast.Assign(targets=[ast.Name() | ast.Tuple() as target], value=value) if known.never_changes(value):
            names = [one.id for one in walk(target) if isinstance(one, ast.Name)]
            if all(known.bound[name] == 1 for name in names):
                return names
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
    raise Keeps(f"{type(node).__name__} at the top")
