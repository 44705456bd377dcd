"""Functions by the shape of their statements, so that one is known again when its names and numbers are others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

_TELLING = 8  # nodes of a statement: `x = f(y)` is anybody's
_ENOUGH = 30  # nodes of telling statements: a function with fewer could have been written by chance
_SHARE = 0.6  # of them, that make another function the same one with something changed
_DEFINITION = re.compile(r"^([ \t]*)(?:async +)?(?:def|class) +\w+.*$", re.MULTILINE)


@dataclass(frozen=True)
class Shape:
    """A function: how it is called, and its telling statements with their sizes."""

    name: str
    statements: Mapping[str, int]

    @property
    def size(self) -> int:
        return sum(self.statements.values())

    @property
    def is_telling(self) -> bool:
        return self.size >= _ENOUGH

    def is_within(self, other: Shape) -> bool:
        shared = sum(size for text, size in self.statements.items() if text in other.statements)
        return shared >= _SHARE * self.size


class Index:
    """Shapes that are looked for, found by any of their statements."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self._by_statement: dict[str, list[Shape]] = {}
        for shape in shapes:
            for text in shape.statements if shape.is_telling else ():
                self._by_statement.setdefault(text, []).append(shape)

    def found_in(self, other: Shape) -> Shape | None:
        candidates = (shape for text in other.statements for shape in self._by_statement.get(text, ()))
        return next((shape for shape in candidates if shape.is_within(other)), None)


@cache  # most of a kit is the same in every kit
def shapes_in(text: str) -> tuple[Shape, ...]:
    """Of every function in a text, be it a file of code or a page with code in it."""
    try:
        trees = [ast.parse(text)]
    except (SyntaxError, ValueError):
        trees = list(_scattered(text))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return tuple(_shape(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _scattered(text: str) -> Iterator[ast.Module]:
    """Definitions in a page: from `def` to the last line that is indented further."""
    for match in _DEFINITION.finditer(text):
        indent = match[1]
        lines = [match[0][len(indent) :]]
        for line in text[match.end() + 1 :].split("\n"):
            if line.strip() and not line.startswith((f"{indent} ", f"{indent}\t", f"{indent})")):
                break
            lines.append(line[len(indent) :])
        try:
            yield ast.parse("\n".join(lines))
        except (SyntaxError, ValueError):
            continue


def _shape(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Shape:
    statements = {text: size for text, size in _statements(function.body) if size >= _TELLING}
    return Shape(function.name, statements)


def _statements(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """One after the other; a loop or a branch is its head, and then what is in it."""
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # a docstring
        inner = [getattr(statement, field) for field in ("body", "orelse", "finalbody") if hasattr(statement, field)]
        if not isinstance(statement, ast.ClassDef | ast.FunctionDef):
            yield _abstract(statement)
        for block in inner:
            yield from _statements(block)


def _abstract(node: ast.AST) -> tuple[str, int]:
    """The statement without names, numbers and annotations, and how many nodes it has."""
    size = 0

    def text(one: object, parent: ast.AST | None = None) -> str:
        nonlocal size
        match one:
            case ast.Name() | ast.arg():
                size += 1
                return "_"
            case ast.Constant(value=value):
                size += 1
                return type(value).__name__
            case ast.Attribute(value=ast.Name(id="self")):
                size += 2
                return "self._"
            case ast.Attribute(value=value, attr=attribute):
                size += 1
                return f"{text(value)}.{attribute}"
            case ast.AnnAssign(target=target, value=value):
                return text(ast.Assign(targets=[target], value=value)) if value else "declared"
            case ast.expr_context() | ast.operator() | ast.unaryop() | ast.boolop() | ast.cmpop():
                return type(one).__name__
            case ast.AST():
                size += 1
                skipped = ("body", "orelse", "finalbody") if isinstance(one, ast.stmt) else ()
                fields = (text(value) for name, value in ast.iter_fields(one) if name not in (*skipped, "ctx"))
                return f"{type(one).__name__}({','.join(fields)})"
            case list():
                return f"[{','.join(text(item) for item in one)}]"
        return "" if one is None or isinstance(one, int) else str(one)

    return text(node), size
