"""Which of some names a source file defines, and which of those are still the stubs students were given."""

from __future__ import annotations

import ast

from .student_code import parsed


def states(file: str, names: list[str]) -> dict[str, str]:
    """'absent', 'stub' or 'written' for each name. Read, not run: starter code need not even import."""
    found = dict.fromkeys(names, "absent")
    for node in (node for _, tree in parsed(file) for node in tree.body):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound = {name: "stub" if _is_stub(node) else "written"}
            case ast.Assign(targets=targets):  # `SynthesizerAttention = MyAttention`
                bound = {target.id: "written" for target in targets if isinstance(target, ast.Name)}
            case ast.ImportFrom(names=aliases):
                bound = {alias.asname or alias.name: "written" for alias in aliases}
            case _:
                continue
        found |= {name: state for name, state in bound.items() if name in found}
    return found


def _is_stub(node: ast.AST) -> bool:
    """A class is a stub while its `forward` is one; without a `forward` of its own, while all its methods are."""
    if isinstance(node, ast.ClassDef):
        methods = [inner for inner in node.body if isinstance(inner, ast.FunctionDef)]
        telling = [method for method in methods if method.name == "forward"] or methods
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
