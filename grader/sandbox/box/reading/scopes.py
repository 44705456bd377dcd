"""Which names a student's source binds, and to what: the scopes of a file, read and never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True, eq=False)
class Definition:
    """A function or class of the student's, and the scope it stands in."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    scope: Scope


@dataclass(frozen=True, eq=False)
class Value:
    """An expression that a name gets, whole or a part of it."""

    node: ast.expr
    scope: Scope
    whole: bool = True


@dataclass(frozen=True)
class Imported:
    module: str
    name: str  # of what is taken from the module; empty for the module itself
    level: int


Binding = Definition | Value | Imported | None  # None: a parameter, or what an exception is caught as


class Scope:
    """Names and what they get, in a module, class, function or comprehension."""

    def __init__(self, place: Place, parent: Scope | None = None, is_class: bool = False) -> None:
        self.place = place
        self.parent = parent
        self._is_class = is_class
        self.bound: dict[str, list[Binding]] = {}

    @property
    def top(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def find(self, name: str) -> list[Binding] | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bound and (scope is self or not scope._is_class):
                return scope.bound[name]
            scope = scope.parent
        return None

    def bind(self, name: str, binding: Binding, *, instead: bool = False) -> None:
        if instead:
            self.bound[name] = []
        self.bound.setdefault(name, []).append(binding)

    def within(self, node: Function | Comprehension | ast.ClassDef) -> Scope:
        """The scope that a function, class or comprehension opens, with what it binds."""
        inner = Scope(self.place, self, isinstance(node, ast.ClassDef))
        match node:
            case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments) | ast.Lambda(args=arguments):
                for argument in ast.walk(arguments):
                    if isinstance(argument, ast.arg):
                        inner.bind(argument.arg, None)
            case ast.ClassDef():
                pass
            case _:
                for target in (part.target for part in node.generators):
                    for name in _names(target):
                        inner.bind(name, None)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            collect(inner, node.body)
        return inner


@dataclass(frozen=True)
class Place:
    """A file of the student's: where it lies, what is in it, and what it imports by a star."""

    path: str
    trees: list[ast.Module] = field(default_factory=list)
    stars: list[Imported] = field(default_factory=list)


def is_main_guard(node: ast.AST) -> bool:
    """`if __name__ == "__main__":`, which does not run when the file is imported."""
    match node:
        case ast.If(
            test=ast.Compare(left=ast.Name("__name__"), ops=[ast.Eq()], comparators=[ast.Constant("__main__")])
        ):
            return True
    return False


def statements(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, bool]]:
    """Those that run with the body, also inside loops and conditions, and whether they always run."""
    waiting = [(node, True) for node in reversed(body)]
    while waiting:
        node, always = waiting.pop()
        if is_main_guard(node):
            assert isinstance(node, ast.If)
            waiting += [(inner, always) for inner in reversed(node.orelse)]
            continue
        yield node, always
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            blocks = list(ast.iter_child_nodes(node))
            inside = [one for block in blocks for one in (block, *_in_block(block)) if isinstance(one, ast.stmt)]
            waiting += [(inner, False) for inner in reversed(inside)]


def _in_block(node: ast.AST) -> list[ast.stmt]:
    """`except` and `case` hold statements without being one."""
    return node.body if isinstance(node, ast.ExceptHandler | ast.match_case) else []


def collect(scope: Scope, body: list[ast.stmt], is_module: bool = False) -> None:
    elsewhere = {
        name for node, _ in statements(body) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    for node, always in statements(body):
        for name, binding in _bindings(node, scope):
            if name not in elsewhere:
                # At the end of a module a name means what it got last, unless that was made from what it meant before.
                scope.bind(name, binding, instead=is_module and always and not _made_from(name, node))
        if is_module and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Global):  # the function may set them
                    for name in inner.names:
                        scope.bind(name, Definition(node, scope))


def _made_from(name: str, node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return False
    body = node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    later = {id(inner) for statement in body for inner in ast.walk(statement)}
    reads = (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    return isinstance(node, ast.AugAssign) or any(one.id == name and id(one) not in later for one in reads)


def _bindings(node: ast.stmt, scope: Scope) -> Iterator[tuple[str, Binding]]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, Definition(node, scope)
            return
        case ast.Import(names=aliases):
            for alias in aliases:
                root = alias.name.partition(".")[0]
                yield alias.asname or root, Imported(alias.name if alias.asname else root, "", 0)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            for alias in aliases:
                if alias.name == "*":
                    scope.place.stars.append(Imported(module or "", "", level))
                else:
                    yield alias.asname or alias.name, Imported(module or "", alias.name, level)
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value, scope)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _unpacked(target, value, scope)
        case ast.AugAssign(target=target, value=value) | ast.For(target=target, iter=value):
            yield from ((name, Value(value, scope, whole=False)) for name in _names(target))
        case ast.With(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from ((name, Value(item.context_expr, scope, False)) for name in _names(item.optional_vars))
        case ast.Try(handlers=handlers):
            yield from ((handler.name, None) for handler in handlers if handler.name)
    for inner in own_expressions(node):
        if isinstance(inner, ast.NamedExpr):
            yield from _unpacked(inner.target, inner.value, scope)


def own_expressions(node: ast.stmt) -> Iterator[ast.AST]:
    """What a statement evaluates itself, without the statements inside it."""
    waiting = [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]
    while waiting:
        inner = waiting.pop()
        yield inner
        if not isinstance(inner, ast.Lambda):
            waiting += [one for one in ast.iter_child_nodes(inner) if not isinstance(one, ast.stmt)]


def _unpacked(target: ast.expr, value: ast.expr, scope: Scope) -> Iterator[tuple[str, Binding]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, Value(value, scope)
        case ((ast.Tuple(elts=parts) | ast.List(elts=parts)), (ast.Tuple(elts=values) | ast.List(elts=values))):
            if len(parts) == len(values) and not any(isinstance(part, ast.Starred) for part in (*parts, *values)):
                for one, other in zip(parts, values, strict=True):
                    yield from _unpacked(one, other, scope)
                return
            yield from ((name, Value(value, scope, whole=False)) for name in _names(target))
        case _:
            yield from ((name, Value(value, scope, whole=False)) for name in _names(target))


def _names(target: ast.AST) -> Iterator[str]:
    """The names that an assignment to this binds; `a.b = …` and `a[0] = …` bind none."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
