"""Whether a script does anything, or is still as students were given it."""

from __future__ import annotations

import ast

from ..loading.student_code import ImportFailed, parsed

_TELLING = ("forward", "__call__", "__getitem__")  # what a class is written for


def does_something(file: str) -> bool:
    """Whether there is more in a script than comments, imports, functions without a body, and calls of those.

    What cannot be parsed may be meant to do something.
    """
    try:
        body = [node for _, tree in parsed(file) for node in tree.body]
    except ImportFailed:
        return True
    return not _is_unstarted(body, set())


def _is_unstarted(body: list[ast.stmt], stubs: set[str]) -> bool:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                if not _is_stub(node):
                    return False
                stubs.add(name)
            case ast.If(body=then, orelse=other):
                if not _is_unstarted(then, stubs) or not _is_unstarted(other, stubs):
                    return False
            case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name in stubs:
                pass
            case _ if not _does_nothing([node]):
                return False
    return True


def _is_stub(node: ast.AST) -> bool:
    """A class is a stub while what it is written for is one; without such a method, while all its methods are."""
    if isinstance(node, ast.ClassDef):
        methods = [inner for inner in node.body if isinstance(inner, ast.FunctionDef)]
        telling = [method for method in methods if method.name in _TELLING] or methods
        return all(_is_stub(method) for method in telling) and (bool(telling) or _does_nothing(node.body))
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return _does_nothing(node.body)


def _does_nothing(body: list[ast.stmt]) -> bool:
    """Nothing but docstrings, `pass`, `...`, imports, names set to None, and returning None or raising."""
    empty: set[str] = set()
    for statement in body:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Raise() | ast.Return(value=None):
                pass
            case ast.Import() | ast.ImportFrom() | ast.Return(value=ast.Constant(value=None)):
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=None)):
                empty.add(name)
            case ast.Return(value=ast.Name(id=name)) if name in empty:
                pass
            case _:
                return False
    return True
