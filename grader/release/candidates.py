"""What of an author's code somebody could hand in as an answer: functions and classes, wherever they stand in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from grader.release.sources import Module, is_check, names_bound, roots_imported
from grader.release.students_source import without_words

TRIED = "_tried_"  # what a candidate goes by in its source
_ITEMS = 3  # of what returns several things; an answer among more of them nobody would notice
_Code = ast.FunctionDef | ast.ClassDef | ast.Lambda
_ITEM = """
def _item_of_(function, number):
    def answer(*args, **kwargs):
        returned = function(*args, **kwargs)
        return (list(returned.values()) if isinstance(returned, dict) else returned)[number]
    return answer
"""


@dataclass(frozen=True)
class Candidate:
    name: str  # as its author knows it
    source: str  # of a module that holds it, and of the rest only what it needs

    @property
    def needs_the_grader(self) -> bool:
        return "grader" in roots_imported(ast.parse(self.source))


def candidates_in(module: Module) -> Iterator[Candidate]:
    """Each as it is and, where it may return several things, one for each of the first of them."""
    for name, node, definition, expression in _code_in(module):
        source = f"{without_words(module, _needed(module, node))}\n{definition}\n"
        yield Candidate(name, f"{source}{TRIED} = {expression}\n")
        if not isinstance(node, ast.ClassDef) and _shows_several(node):
            for number in range(_ITEMS):
                yield Candidate(name, f"{source}{_ITEM}{TRIED} = _item_of_({expression}, {number})\n")


def _code_in(module: Module) -> Iterator[tuple[str, ast.AST, str, str]]:
    """Name, code, a definition to put beside what it needs, and an expression for it. A check itself answers nothing,
    but what is defined inside may."""
    for statement in module.tree.body:
        seen: set[ast.AST] = {statement}
        match statement:
            case ast.FunctionDef(name=name) if not is_check(statement):
                yield name, statement, "", name
            case ast.ClassDef(name=name):
                yield name, statement, "", name
                for method in statement.body:
                    seen.add(method)
                    if isinstance(method, ast.FunctionDef) and method.name != "__init__":
                        yield f"{name}.{method.name}", statement, "", f"{_holder(name, method)}.{method.name}"
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if isinstance(value, ast.Lambda | ast.Call | ast.Name | ast.Attribute):
                seen.add(value)
                yield name, statement, "", name
        outer = next(names_bound(statement), "")
        for node in ast.walk(statement):
            if isinstance(node, _Code) and node not in seen:
                yield _lifted(node, outer)


def _holder(name: str, method: ast.FunctionDef) -> str:
    marks = {ast.unparse(mark) for mark in method.decorator_list}
    return name if marks & {"staticmethod", "classmethod"} else f"{name}()"


def _lifted(node: _Code, outer: str) -> tuple[str, ast.AST, str, str]:
    """What is defined inside something else, as if it stood by itself."""
    if isinstance(node, ast.Lambda):
        return f"a lambda in {outer}", node, "", f"({ast.unparse(node)})"
    return f"{outer}.{node.name}", node, ast.unparse(node), node.name


def _needed(module: Module, node: ast.AST) -> frozenset[str]:
    """Top-level names that this code refers to, and its own."""
    own = {name for name, statement in module.defines.items() if statement is node}
    return frozenset(own | module.refers_to(node))


def _shows_several(node: ast.AST) -> bool:
    """Whether a tuple, list or dictionary is written in it: it may be what is returned."""
    several = (one for one in ast.walk(node) if isinstance(one, ast.Tuple | ast.List | ast.Dict))
    return any(isinstance(getattr(one, "ctx", ast.Load()), ast.Load) for one in several)
