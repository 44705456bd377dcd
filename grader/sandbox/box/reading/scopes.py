"""Python source, parsed and never run: what runs with it, which names it binds and uses, and in which scope."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Sequence
from typing import NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_RUN_AT_ONCE = {"listcomp", "setcomp", "dictcomp", "genexpr"}  # as symtable calls them


class Definition(NamedTuple):
    """A function or class of the student's, and the scope it is in."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    scope: Scope


class Value(NamedTuple):
    """An expression that a name gets, whole or a part of it."""

    node: ast.expr
    scope: Scope
    whole: bool = True


class Imported(NamedTuple):
    module: str
    name: str  # of what is taken from the module; empty for the module itself
    level: int


Binding = Definition | Value | Imported | None  # None: a parameter, or what an exception is caught as


class Scope:
    """Names and what they get, in a file, class, function or comprehension."""

    def __init__(self, path: str, parent: Scope | None = None, is_class: bool = False) -> None:
        self.path = path
        self.top: Scope = self if parent is None else parent.top
        self.bound: dict[str, list[Binding]] = {}
        self.trees: list[ast.Module] = []  # of a file: what is in it, and what it imports by a star
        self.stars: list[Imported] = []
        self._parent = parent
        self._is_class = is_class

    def find(self, name: str) -> list[Binding] | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bound and (scope is self or not scope._is_class):
                return scope.bound[name]
            scope = scope._parent
        return None

    def within(self, node: ast.AST) -> Scope:
        """The scope that a function, lambda, class or comprehension opens, with what it binds."""
        inner = Scope(self.path, self, isinstance(node, ast.ClassDef))
        parameters = ast.walk(getattr(node, "args", ast.Pass()))
        inner.bound = {one.arg: [None] for one in parameters if isinstance(one, ast.arg)}
        for part in getattr(node, "generators", ()):
            inner.bound |= {name: [None] for name in stored_names(part.target)}
        if isinstance(node, DEFINITIONS):
            inner.collect(node.body)
        return inner

    def collect(self, body: list[ast.stmt], is_module: bool = False) -> None:
        nodes = list(run_with(body))
        declared = (node.names for node, _ in nodes if isinstance(node, ast.Global | ast.Nonlocal))
        elsewhere = {name for names in declared for name in names}
        for node, always in nodes:
            for name, binding in self._bindings(node):
                if name in elsewhere:
                    continue
                if is_module and always and not _made_from(name, node):
                    self.bound[name] = []  # at the end of a module a name means what it got last
                self.bound.setdefault(name, []).append(binding)
            if is_module and isinstance(node, FUNCTIONS):  # which may set what it declares global
                for name in {name for one in ast.walk(node) if isinstance(one, ast.Global) for name in one.names}:
                    self.bound.setdefault(name, []).append(Definition(node, self))

    def _bindings(self, node: ast.AST) -> Iterator[tuple[str, Binding]]:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, Definition(node, self)
            case ast.Import(names=aliases):
                for alias in aliases:
                    root = alias.name.partition(".")[0]
                    yield alias.asname or root, Imported(alias.name if alias.asname else root, "", 0)
            case ast.ImportFrom(module=module, names=aliases, level=level):
                for alias in aliases:
                    if alias.name == "*":
                        self.top.stars.append(Imported(module or "", "", level))
                    else:
                        yield alias.asname or alias.name, Imported(module or "", alias.name, level)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from self._unpacked(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                yield from self._unpacked(target, value)
            case (
                ast.AugAssign(target=target, value=value)
                | ast.For(target=target, iter=value)
                | ast.withitem(optional_vars=ast.expr() as target, context_expr=value)
            ):
                yield from ((name, Value(value, self, whole=False)) for name in stored_names(target))
            case ast.ExceptHandler(name=str(name)):
                yield name, None

    def _unpacked(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Binding]]:
        match target, value:
            case ast.Name(id=name), _:
                yield name, Value(value, self)
            case ((ast.Tuple(elts=parts) | ast.List(elts=parts)), (ast.Tuple(elts=values) | ast.List(elts=values))) if (
                len(parts) == len(values) and not any(isinstance(part, ast.Starred) for part in (*parts, *values))
            ):
                for one, other in zip(parts, values, strict=True):
                    yield from self._unpacked(one, other)
            case _:
                yield from ((name, Value(value, self, whole=False)) for name in stored_names(target))


def is_main_guard(node: ast.AST) -> bool:
    """`if __name__ == "__main__":`, which does not run when the file is imported."""
    match node:
        case ast.If(
            test=ast.Compare(left=ast.Name("__name__"), ops=[ast.Eq()], comparators=[ast.Constant("__main__")])
        ):
            return True
    return False


def run_with(body: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes that run with these statements, also inside loops and conditions, and whether they always run; of
    functions and classes only that they are defined."""
    waiting: list[tuple[ast.AST, bool]] = [(node, True) for node in reversed(body)]
    while waiting:
        node, always = waiting.pop()
        if is_main_guard(node):
            waiting += [(inner, always) for inner in reversed(getattr(node, "orelse", []))]
            continue
        yield node, always
        if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
            inside = [node.iter, *node.ifs] if isinstance(node, ast.comprehension) else [*ast.iter_child_nodes(node)]
            waiting += [(inner, always and not isinstance(inner, ast.stmt)) for inner in reversed(inside)]


def _made_from(name: str, node: ast.AST) -> bool:
    """Whether what the name gets here was made from what it meant before."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return False
    now = [one for one in ast.iter_child_nodes(node) if not (isinstance(node, FUNCTIONS) and isinstance(one, ast.stmt))]
    names = (one for part in now for one in ast.walk(part) if isinstance(one, ast.Name))
    return isinstance(node, ast.AugAssign) or any(one.id == name and isinstance(one.ctx, ast.Load) for one in names)


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that it binds, whatever it is; `*` for all of a module."""
    for inner, _ in run_with([node]):
        match inner:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.Name(id=name, ctx=ast.Store()) | ast.ExceptHandler(name=str(name)):
                yield name


def stored_names(target: ast.AST) -> Iterator[str]:
    """The names that an assignment to this binds; `a.b = …` and `a[0] = …` bind none."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def names_used(node: ast.stmt, annotations: bool) -> tuple[set[str], set[str]]:
    """The global names it uses when it runs, and those it uses only when it is called."""
    try:
        source = ast.unparse(node) if annotations else f"from __future__ import annotations\n{ast.unparse(node)}"
        table = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # running it will say what is wrong with it
        return set(), set()
    at_once = {node.target.id} if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) else set()
    later: set[str] = set()
    waiting: list[tuple[symtable.SymbolTable, set[str]]] = [(table, at_once)]
    while waiting:
        scope, used = waiting.pop()
        top = scope is table
        for name in scope.get_symbols():  # `count += 1` of a name declared global reads it, which symtable does not say
            if (name.is_referenced() and (top or name.is_global())) or name.is_declared_global():
                used.add(name.get_name())
        for inner in scope.get_children():
            runs_now = inner.get_type() == "class" or inner.get_name() in _RUN_AT_ONCE
            waiting.append((inner, used if runs_now else later))
    return at_once, later


def root_name(node: ast.AST) -> str:
    """`a` of `a.b[0].c`; nothing where that is no name."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
