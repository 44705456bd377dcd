"""Whether code keeps nothing from one question to the next: told by reading it, before any of it has run.

What is read is what is allowed, not what is forbidden. Code passes if nothing that outlives a call can be changed by
it: names of the module are bound once, to values that never change; attributes are set on `self` alone; and of
libraries it uses only what keeps nothing itself (`pure_names`). Everything else gets a no, which costs time and nothing
more: code that may keep something is asked in more boxes.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from . import own_source
from .pure_imports import Imports, Keeps, own_files
from .pure_names import BUILTINS, GIVES_NUMBERS, MAKERS, WRITES
from .scopes import is_main_guard
from .top_level import globals_used
from .trees import children, is_read, own_instance, walk

_PLAIN = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.With, ast.withitem, ast.Try),
    *(ast.ExceptHandler, ast.Return, ast.Pass, ast.Break, ast.Continue, ast.Delete, ast.Nonlocal, ast.Yield),
    *(ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp),
    *(ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Subscript, ast.Slice, ast.Starred, ast.List),
    *(ast.Tuple, ast.keyword, ast.FormattedValue, ast.operator, ast.boolop, ast.unaryop, ast.cmpop),
)
_METHODS = {  # Python calls these where their names say; others it calls unseen
    *("__init__", "__len__", "__getitem__", "__call__", "__repr__", "__str__", "__iter__", "__next__", "__contains__"),
    *("__eq__", "__add__", "__mul__", "__matmul__", "__post_init__"),
}
# Of a value: where it lies in memory, a file, a frame and with it all names of a module, chance from outside.
_REVEALING = re.compile(r"ctypes|data_ptr|\w*storage|tofile|dumps?|obj|(gi|cr|ag|tb|f|co)_\w+|seed")
# As the type of an array, text shows where the objects in it lie.
_TEXT_TYPES = re.compile(r"[<>=|]?[USOVTa]\d*|str\w*|object\w*|bytes\w*|unicode\w*")
_DECORATORS = {"property", "staticmethod", "classmethod", "torch.no_grad", "torch.inference_mode"}
_FILLING = {"uniform_", "normal_", "zero_", "fill_"}  # all of a tensor
_LOGS = {"debug", "info", "warning", "error"}
_NUMBERS = {"float", "int", "bool", "abs", "round", "min", "max", "tuple", "frozenset"}


def what_it_may_keep(file: str) -> str:
    """By what the student's file, or one that it imports, may keep something; nothing, if it cannot."""
    waiting, read = deque([file]), dict[str, _File]()
    try:
        own = own_files()
        while waiting:
            path = waiting.popleft()
            if path not in read:
                read[path] = _File(path, own)
                waiting += (other for name in read[path].imports.followed for other in own[name])
        changing = {(os.path.splitext(os.path.basename(path))[0], name) for path in read for name in read[path].open}
        for one in read.values():
            if taken := one.imports.taken & changing:
                raise Keeps(f"{min(taken)[1]}, which may change")
    except Keeps as kept:
        return str(kept)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:  # importing it will say more
        return type(error).__name__
    return ""


@dataclass(frozen=True)
class _Scope:
    own: str = ""  # what the method calls its own instance
    message: bool = False  # text that nobody but a person reads


class _File:
    """One file of the student's. Raises Keeps where it is read if it may keep something."""

    def __init__(self, path: str, files: dict[str, list[str]]) -> None:
        self.imports = Imports(files)
        self.open: set[str] = set()  # names of the module whose values may change
        self._classes: set[str] = set()
        self._constants: set[str] = set()  # and functions
        self._loggers: set[str] = set()
        body = own_source.parse(os.path.abspath(path)).body
        statements = [node for node in body if not is_main_guard(node)]
        self._bound = Counter(name for node in statements for name in self._binds(node))
        for name in (*self.imports.libraries, *self.imports.modules, *self._classes):
            if self._bound[name] > 1:  # what it means depends on the place
                raise Keeps(f"{name} has two meanings")
        self._makers = {  # functions whose results may be functions or instances, which keep what they like
            node.name
            for node in statements
            if isinstance(node, ast.FunctionDef) and self._makes(child for part in node.body for child in walk(part))
        }
        for node in statements:
            self._at_the_top(node)
        if self.open and (changing := globals_used(path) & self.open):
            raise Keeps(f"{min(changing)}, which may change")

    def _binds(self, node: ast.AST) -> Iterator[str]:
        """Every name that is bound anywhere; imports and classes are noted by the way."""
        for one in walk(node):
            match one:
                case ast.Name(id=name, ctx=ast.Load()):
                    pass
                case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                    yield name
                case ast.Import() | ast.ImportFrom():
                    yield from self.imports.bind(one)
                case ast.ClassDef(name=name):
                    self._classes.add(name)
                    yield name
                case ast.ExceptHandler(name=str(name)):
                    yield name

    def _at_the_top(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                return
            case ast.FunctionDef(name=name):
                self._constants.add(name)
            case ast.Assign(targets=targets, value=value) if all(isinstance(one, ast.Name) for one in targets):
                names = {one.id for one in targets if isinstance(one, ast.Name)}
                if self._makes_logger(value):
                    self._loggers |= names
                    return
                if self._never_changes(value) and all(self._bound[name] == 1 for name in names):
                    self._constants |= names
                else:
                    self.open |= names
                    self._holds_data(value)
            case ast.ClassDef() | ast.Expr():
                pass
            case _:
                self.open.update(one.id for one in walk(node) if isinstance(one, ast.Name) and not is_read(one))
                self._holds_data(node)
        self._look(node, _Scope())

    def _makes(self, nodes: Iterable[ast.AST]) -> bool:
        return any(
            isinstance(one, ast.FunctionDef | ast.Lambda | ast.ClassDef)
            or (isinstance(one, ast.Name) and one.id in self._classes)
            or self.imports.dotted(one) in MAKERS
            or self.imports.dotted(one).startswith("torch.nn.")
            for one in nodes
        )

    def _holds_data(self, node: ast.AST) -> None:
        """Raise unless what it gives a name is no function and no instance: those are asked by name."""
        below = walk(node)
        may_call = self._makers or self.imports.followed
        if self._makes(below) or (may_call and any(isinstance(one, ast.Call) for one in below)):
            raise Keeps("what is made at the top of the file")

    def _makes_logger(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=function, args=[ast.Name(id="__name__")], keywords=[]):
                return self.imports.dotted(function) == "logging.getLogger"
        return False

    def _never_changes(self, value: ast.expr | None) -> bool:
        """Whether it is a value that nothing can change, as a number is."""
        match value:
            case None | ast.Constant() | ast.Lambda():
                return True
            case ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
                return all(map(self._never_changes, parts))
            case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
                return self._never_changes(one) and self._never_changes(other)
            case ast.Compare(left=one, comparators=others):
                return all(map(self._never_changes, (one, *others)))
            case ast.UnaryOp(operand=one) | ast.Attribute(value=ast.Call() as one, attr="min" | "max" | "eps" | "tiny"):
                return self._never_changes(one)
            case ast.Name(id=name):
                known = (self._constants, self._classes, self.imports.libraries, BUILTINS)
                return any(name in names for names in known)
            case ast.Attribute():
                return bool(self.imports.dotted(value))
            case ast.Call(func=function, args=args, keywords=[]):
                name = self._called(function)
                gives = name in GIVES_NUMBERS or name in _NUMBERS or name.startswith("math.")
                return gives and all(map(self._never_changes, args))
        return False

    def _called(self, function: ast.expr) -> str:
        return self.imports.dotted(function) or (function.id if isinstance(function, ast.Name) else "")

    def _look(self, node: ast.AST, scope: _Scope) -> None:
        """Raise Keeps if anything in it may keep something."""
        match node:
            case ast.Name(id=name):
                self._name(name, scope)
            case ast.Attribute():
                self._attribute(node, scope)
            case ast.Call():
                self._call(node, scope)
            case ast.Constant(value=str(text)) if not scope.message and _TEXT_TYPES.fullmatch(text):
                raise Keeps(repr(text))
            case ast.Constant() | ast.Import() | ast.ImportFrom():
                pass
            case ast.BinOp(left=ast.Constant(value=str() | bytes()), op=ast.Mod()) if not scope.message:
                raise Keeps("text made of values")
            case ast.FunctionDef():
                self._function(node, replace(scope, own=""))
            case ast.ClassDef():
                self._class(node, scope)
            case ast.Lambda(args=arguments, body=body):
                self._defaults(arguments)
                self._look(body, replace(scope, own=""))
            case ast.Raise() | ast.Assert():
                self._look_at_all(children(node), replace(scope, message=True))
            case ast.JoinedStr(values=parts) if scope.message:
                self._look_at_all(parts, scope)
            case _ if is_main_guard(node):
                pass
            case _ if isinstance(node, _PLAIN):
                self._look_at_all(children(node), scope)
            case _:
                raise Keeps(type(node).__name__)

    def _look_at_all(self, nodes: Iterable[ast.AST], scope: _Scope) -> None:
        for node in nodes:
            self._look(node, scope)

    def _function(self, node: ast.FunctionDef, scope: _Scope) -> None:
        for decorator in node.decorator_list:
            match decorator:
                case ast.Call(func=called, args=[], keywords=[]) | called:
                    if self._called(called) not in _DECORATORS:
                        raise Keeps("a decorator")
        self._defaults(node.args)
        annotated = (one.annotation for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
        self._look_at_all((one for one in (*annotated, node.returns) if one is not None), replace(scope, message=True))
        self._look_at_all(self._filled(node.body, scope), replace(scope, message=False))

    def _filled(self, body: list[ast.stmt], scope: _Scope) -> Iterator[ast.AST]:
        """The statements; in place of `self.C = nn.Parameter(torch.empty(…))`, where the next one gives all of it other
        values, the sizes alone."""
        for node, following in zip_longest(body, body[1:]):
            match node, following:
                case (
                    ast.Assign(targets=[ast.Attribute(value=ast.Name(id=own)) as target], value=value),
                    ast.Expr(value=ast.Call(func=function, args=[filled, *_])),
                ) if own == scope.own and self._fills(function) and ast.unparse(target) == ast.unparse(filled):
                    yield from self._sizes(value) or (node,)
                case _:
                    yield node

    def _fills(self, function: ast.expr) -> bool:
        return self.imports.dotted(function).startswith("torch.nn.init.")

    def _sizes(self, value: ast.expr) -> Sequence[ast.AST]:
        match value:
            case ast.Call(func=function, args=[ast.Call() as inner]) if self._called(function) == "torch.nn.Parameter":
                return self._sizes(inner)
            case ast.Call(func=function, args=sizes, keywords=[]) if self.imports.dotted(function) == "torch.empty":
                return sizes
        return []

    def _defaults(self, arguments: ast.arguments) -> None:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if not self._never_changes(default):
                raise Keeps("a default that may change")
            if default is not None:
                self._look(default, _Scope())

    def _class(self, node: ast.ClassDef, scope: _Scope) -> None:
        if node.keywords or any(self._called(one) != "dataclasses.dataclass" for one in node.decorator_list):
            raise Keeps("a class made in an unusual way")
        self._look_at_all(node.bases, scope)
        for one in node.body:
            match one:
                case ast.FunctionDef(name=name):
                    if name.startswith("__") and name not in _METHODS:
                        raise Keeps(name)
                    self._function(one, _Scope(own=own_instance(one)))
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case ast.Assign(value=value) | ast.AnnAssign(value=value) if self._never_changes(value):
                    self._look_at_all((value,) if value else (), scope)
                case _:
                    raise Keeps("a value of a class that may change")

    def _call(self, node: ast.Call, scope: _Scope) -> None:
        inner = scope
        match node.func:
            case ast.Name(id="setattr") if "setattr" not in self._bound:
                if not (node.args and isinstance(node.args[0], ast.Name) and node.args[0].id == scope.own != ""):
                    raise Keeps("setattr")
            case ast.Name(id="getattr") if "getattr" not in self._bound:
                match node.args:
                    case [_, ast.Constant(value=str(name)), *_] if not _is_revealing(name):
                        pass
                    case _:
                        raise Keeps("getattr")
            case ast.Name(id="print") if "print" not in self._bound and not node.keywords:
                inner = replace(scope, message=True)
            case ast.Attribute(value=ast.Name(id=name), attr=method) if name in self._loggers and method in _LOGS:
                inner = replace(scope, message=True)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")) as above, attr=method) if method in _METHODS:
                self._look(above, scope)
            case ast.Attribute(value=made, attr=method) if method in _FILLING and (sizes := self._sizes(made)):
                self._look_at_all((*sizes, *node.args, *node.keywords), scope)
                return
            case function if self._fills(function) and node.args and (sizes := self._sizes(node.args[0])):
                self._look_at_all((function, *sizes, *node.args[1:], *node.keywords), scope)
                return
            case function if path := self.imports.dotted(function):
                self.imports.look_up(path, called=True, given=None if node.keywords else node.args)
            case function:
                self._look(function, scope)
        self._look_at_all((*node.args, *node.keywords), inner)

    def _attribute(self, node: ast.Attribute, scope: _Scope) -> None:
        is_own = isinstance(node.value, ast.Name) and node.value.id == scope.own != ""
        if not is_read(node) and not is_own:
            raise Keeps(f".{node.attr} is set")
        if path := self.imports.dotted(node):
            self.imports.look_up(path, called=False)
            return
        match node.value:
            case ast.Name(id=name) if name in self.imports.modules:
                self.imports.taken.add((self.imports.modules[name], node.attr))
                return
            case ast.Name(id=name) if name in self._classes:
                raise Keeps(f"{name}.{node.attr}")
        is_hidden = _is_revealing(node.attr) and not (is_own and not node.attr.startswith("__"))
        if is_hidden or (node.attr == "format" and not scope.message):
            raise Keeps(f".{node.attr}")
        self._look(node.value, scope)

    def _name(self, name: str, scope: _Scope) -> None:
        if name in self.imports.libraries:
            self.imports.look_up(self.imports.libraries[name], called=False)
        elif name in self.imports.modules or name in self._loggers:
            raise Keeps(f"{name} as a value")
        elif name not in self._bound and name not in BUILTINS and not (scope.message and name in WRITES):
            raise Keeps(name)


def _is_revealing(attribute: str) -> bool:
    return attribute.startswith("_") or _REVEALING.fullmatch(attribute) is not None
