"""Statements and expressions by which code keeps nothing; any others raise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from .pure_attributes import reveals
from .pure_forms import is_constant, is_one_of_a_kind, makes_keys, makes_text, word
from .pure_imports import Keeps
from .pure_names import ALLOWED, BUILTINS, CONSTANTS, CONTEXTS, NUMBER_TYPES
from .pure_numpy import copies_dtype, is_number_type, look_at_call, look_at_view, says_how
from .pure_orders import in_any_order
from .pure_values import Known
from .trees import children, is_read, own_instance, walk

_PLAIN = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Return, ast.Pass, ast.Break, ast.Continue),
    *(ast.Delete, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.ListComp, ast.DictComp, ast.List),
    *(ast.GeneratorExp, ast.comprehension, ast.Subscript, ast.Slice, ast.Starred, ast.Tuple, ast.keyword),
)
_ALWAYS_PLAIN = frozenset(_PLAIN) - {ast.Expr, ast.Return}  # whatever they hold; most nodes are, so they are told first
_KINDS_OF_SIGNS = (ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
_SIGNS = frozenset(sign for kind in _KINDS_OF_SIGNS for sign in kind.__subclasses__())
_METHODS = {  # Python calls these where their names say; others it calls unseen
    *("__init__", "__len__", "__getitem__", "__call__", "__repr__", "__str__", "__iter__", "__next__", "__contains__"),
    *("__add__", "__mul__", "__sub__", "__neg__", "__truediv__", "__matmul__"),
}
# What makes text of values, or is the type of an array of such text.
_TEXT = re.compile(r".*[%{].*|[<>=|]?[USOVTa]\d*|str\w*|object\w*|bytes\w*|unicode\w*", re.DOTALL)
_DECORATORS = {"property", "staticmethod", "torch.no_grad", "torch.inference_mode"}  # classmethod would give a class
_FILLING = {"uniform_", "normal_", "zero_", "fill_"}  # all of a tensor
_LOGS = {"debug", "info", "warning", "error"}
_PATTERNS = re.compile(r"(numpy|torch)\.einsum|einops\..*")


@dataclass(frozen=True)
class Scope:
    own: str = ""  # what the method calls its own instance
    place: str = ""  # the class or function at the top that this is in
    kind: str = ""  # the class whose method this is


TOP = Scope()


class Statements:
    """Looks at the statements of a file whose names are known."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._imports = known.imports

    def look(self, node: ast.AST, scope: Scope) -> None:
        """Raise Keeps if anything in it may keep something."""
        if type(node) in _ALWAYS_PLAIN:
            for one in children(node):
                if type(one) not in _SIGNS:
                    self.look(one, scope)
            return
        match node:
            case ast.Name(id=name):
                self._name(name, scope)
            case ast.Attribute():
                self._attribute(node, scope)
            case ast.Call():
                self._call(node, scope)
            case ast.Constant(value=str(text)):
                self._known.has_text = True
                if _TEXT.fullmatch(text):
                    raise Keeps(repr(text))
            case ast.Constant(value=bytes()):
                raise Keeps("bytes")
            case ast.Constant() | ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
                pass
            case ast.Compare(left=left, ops=ops, comparators=others):
                if any(isinstance(one, ast.Is | ast.IsNot) for one in ops) and not all(map(is_one_of_a_kind, others)):
                    raise Keeps("whether two are one and the same")
                # What is searched may be of a class of their own, which gets what it is searched for.
                searches = any(isinstance(one, ast.In | ast.NotIn) for one in ops)
                parts = (one for one in (left, *others) if searches or not isinstance(one, ast.Constant))
                self._look_at_all(parts, scope)
            case ast.Return(value=ast.Tuple() | ast.Dict() as value) if self._known.is_asked_alone(scope.place):
                self._known.returns_text = True
                self._look_at_all((one for one in children(value) if not word(one)), scope)
            case ast.FunctionDef():
                self._function(node, Scope(place=node.name if scope is TOP else ""))
            case ast.ClassDef():
                self._class(node)
            case ast.Lambda(args=arguments, body=body):
                self._defaults(arguments)
                self.look(body, Scope())
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                self._known.look_at_types(annotation)
                self._look_at_all(filter(None, (target, value)), scope)
            case ast.With(items=items, body=inside):
                if not all(map(self._ends_where_it_begins, items)):
                    raise Keeps("a context")
                self._look_at_all(inside, scope)
            case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name), keywords=[]) as raised, cause=None):
                if name not in BUILTINS or not name[0].isupper():
                    raise Keeps(f"raise {name}")
                self._read_by_people(getattr(raised, "args", ()), scope)
            case ast.Assert(test=test, msg=message):
                self.look(test, scope)
                self._read_by_people(filter(None, (message,)), scope)
            case _ if isinstance(node, _PLAIN):
                self._look_at_all(children(node), scope)
            case _:
                raise Keeps(type(node).__name__)

    def _look_at_all(self, nodes: Iterable[ast.AST], scope: Scope) -> None:
        for node in nodes:
            self.look(node, scope)

    def _ends_where_it_begins(self, item: ast.withitem) -> bool:
        match item:
            case ast.withitem(context_expr=ast.Call(func=function, args=[], keywords=given), optional_vars=None):
                return self._known.called(function) in CONTEXTS and all(map(is_constant, given))
        return False

    def _function(self, node: ast.FunctionDef, scope: Scope) -> None:
        for decorator in node.decorator_list:
            match decorator:
                case ast.Call(func=called, args=[], keywords=[]) | called:
                    if self._known.called(called) not in _DECORATORS:
                        raise Keeps("a decorator")
        self._defaults(node.args)
        for one in walk(node.args):
            if isinstance(one, ast.arg) and one.annotation is not None:
                self._known.look_at_types(one.annotation)
        if node.returns is not None:
            self._known.look_at_types(node.returns)
        self._look_at_all(self._filled(node.body, scope), scope)

    def _filled(self, body: list[ast.stmt], scope: Scope) -> Iterator[ast.AST]:
        """The statements; in place of `self.C = nn.Parameter(torch.empty(…))`, where the next one gives all of it other
        values, the sizes alone."""
        for node, following in zip_longest(body, body[1:]):
            match node, following:
                case (
                    ast.Assign(targets=[ast.Attribute(value=ast.Name(id=own)) as target], value=value),
                    ast.Expr(value=ast.Call(func=function, args=[filled, *more], keywords=given)),
                ) if own == scope.own and self._known.fills(function) and all(map(is_constant, (*more, *given))):
                    is_same = ast.unparse(target) == ast.unparse(filled)
                    yield from (is_same and self._known.sizes(value)) or (node,)
                case _:
                    yield node

    def _defaults(self, arguments: ast.arguments) -> None:
        self._known.has_text |= arguments.kwarg is not None  # its keys
        for default in filter(None, (*arguments.defaults, *arguments.kw_defaults)):
            if not self._known.never_changes(default):
                raise Keeps("a default that may change")
            self.look(default, Scope())

    def _class(self, node: ast.ClassDef) -> None:
        if node.keywords or node.decorator_list:
            raise Keeps("a class made in an unusual way")
        kinds = self._known.kinds
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in {*self._known.classes, "object"}:
                kinds.inherits(node.name, base.id)
            else:
                kinds.inherits_from_library(node.name, self._imports.dotted(base))
        for one in node.body:
            match one:
                case ast.FunctionDef(name=name):
                    if name.startswith("__") and name not in _METHODS:
                        raise Keeps(name)
                    kinds.sets(node.name, name)
                    self._function(one, Scope(own_instance(one), node.name if name == "__init__" else "", node.name))
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=value)
                ) if self._known.never_changes(value) and not name.startswith("__"):
                    kinds.sets(node.name, name)
                    self._look_at_all(filter(None, (value,)), Scope())
                    if isinstance(one, ast.AnnAssign):
                        self._known.look_at_types(one.annotation)
                case _:
                    raise Keeps("a value of a class that may change")

    def _call(self, node: ast.Call, scope: Scope) -> None:
        self._known.has_text |= bool(node.keywords) and makes_keys(self._known.called(node.func))
        match node.func:
            case ast.Name(id="setattr"):
                self._known.kinds.look_at_setattr(scope.kind, scope.own, node.args)
            case ast.Name(id="print"):
                if not all(one.arg in ("sep", "end", "flush") and is_constant(one) for one in node.keywords):
                    raise Keeps("print")
                self._read_by_people(node.args, scope)
                return
            case ast.Name(id="isinstance" | "issubclass") if len(node.args) == 2:
                self.look(node.args[0], scope)
                self._known.look_at_types(node.args[1])
                return
            case ast.Name(id="float" | "int") if len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
                return
            case ast.Name(id="hasattr") if len(node.args) == 2 and isinstance(node.args[1], ast.Constant):
                self.look(node.args[0], scope)
                return
            case ast.Name(id="len") if node.args and (inside := in_any_order(node.args[0])) is not None:
                self.look(inside, scope)
                return
            case ast.Name(id="sorted") if node.args and (inside := in_any_order(node.args[0])) is not None:
                self._in_order(inside, node, scope)
                return
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")) as above, attr=method):
                self._above(above, method, scope)
            case ast.Name(id=name) if name in self._known.classes:
                pass
            case function if taken := self._imports.of_own(function):
                self._imports.taken.add(taken)
            case ast.Attribute(value=ast.Name(id=name), attr=method) if name in self._known.loggers and method in _LOGS:
                self._read_by_people(node.args, scope)
                self._look_at_all(node.keywords, scope)
                return
            case ast.Attribute(value=made, attr=method) if method in _FILLING and (sizes := self._known.sizes(made)):
                self._look_at_all(sizes, scope)
            case ast.Attribute(attr="astype"):
                if not (len(node.args) == 1 and is_number_type(node.args[0], self._imports) and not node.keywords):
                    raise Keeps("astype")
                self.look(node.func, scope)
                return
            case ast.Attribute(attr="view"):
                look_at_view(node, self._imports)
                self.look(node.func, scope)
            case function if path := self._imports.dotted(function):
                self._library_call(path, node, scope)
                return
            case function:
                self.look(function, scope)
        for keyword in node.keywords:
            if keyword.arg == "where" or (keyword.arg is None and not self._known.defines(node.func)):
                raise Keeps(f"a call with {keyword.arg or 'what is not written out'}")
        self._look_at_all((*node.args, *node.keywords), scope)

    def _in_order(self, inside: ast.AST, node: ast.Call, scope: Scope) -> None:
        """Letters, which the grader hands over, are sorted alike wherever they lie; functions, tensors and numbers that
        are none are not."""
        if not (isinstance(inside, ast.Name) and inside.id in self._known.handed_over.get(scope.place, ())):
            raise Keeps("the order of a set")
        if len(node.args) > 1 or node.keywords:
            raise Keeps("another order of a set")
        self._known.sorts = True

    def _above(self, called: ast.Call, method: str, scope: Scope) -> None:
        match called.args:
            case []:
                pass
            case [ast.Name(id=kind), ast.Name(id=own)] if kind in self._known.classes and own == scope.own:
                pass
            case _:
                raise Keeps("super")
        if called.keywords or (method.startswith("_") and method not in _METHODS - {"__repr__", "__str__"}):
            raise Keeps(f"super().{method}")

    def _library_call(self, path: str, node: ast.Call, scope: Scope) -> None:
        args, keywords = node.args, node.keywords
        if self._known.fills(node.func) and args and (sizes := self._known.sizes(args[0])):
            self._look_at_all(sizes, scope)
            args = args[1:]
        self._imports.look_up(path, given=None if keywords else args)
        if path.startswith("copy.") and (len(args) != 1 or keywords):
            raise Keeps(path)
        if path.startswith("numpy."):
            look_at_call(path, node, self._imports)
        if args and is_constant(args[0]) and _PATTERNS.fullmatch(path):
            args = args[1:]
        self._known.copies_dtype |= copies_dtype(node)
        self._look_at_all((*args, *(one for one in keywords if not says_how(path, one))), scope)

    def _read_by_people(self, messages: Iterable[ast.AST], scope: Scope) -> None:
        """Text that nobody but a person reads. It may show where things lie, so no code gets any of it: to put it
        somewhere, to look at it, or to do something depending on it."""
        for node in messages:
            match node:
                case ast.Constant(value=str()):
                    pass
                case (
                    ast.JoinedStr(values=parts)
                    | ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=ast.Tuple(elts=parts))
                ):
                    self._read_by_people(parts, scope)
                case ast.FormattedValue(value=value, format_spec=how):
                    self._read_by_people(filter(None, (value, how)), scope)
                case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=value):
                    self._read_by_people((value,), scope)
                case ast.BinOp(left=one, op=ast.Add(), right=other) if makes_text(one):
                    self._read_by_people((one, other), scope)
                case ast.Call(func=ast.Name(id="str" | "repr"), args=[value], keywords=[]):
                    self.look(value, scope)
                case _:
                    self.look(node, scope)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> None:
        is_own = isinstance(node.value, ast.Name) and node.value.id == scope.own != ""
        if not is_read(node):
            if not is_own:
                raise Keeps(f".{node.attr} is set")
            self._known.kinds.sets(scope.kind, node.attr)
        if self._imports.dotted(node):
            self._library(self._imports.dotted(node))
            return
        if taken := self._imports.of_own(node):
            self._imports.taken.add(taken)
            self._imports.values.add(taken)
            return
        match node.value:
            case ast.Name(id=name) if name in self._known.classes:
                raise Keeps(f"{name}.{node.attr}")
            case ast.Attribute(value=tensor, attr="data") if node.attr in _FILLING:
                self.look(tensor, scope)
                return
        if reveals(node.attr, is_own):
            raise Keeps(f".{node.attr}")
        self._known.note(node.attr, is_own)
        if node.attr in ("keys", "items") and not is_own and id(node) not in self._known.gone_through:
            raise Keeps(f".{node.attr}, which makes sets")
        self.look(node.value, scope)

    def _name(self, name: str, scope: Scope) -> None:
        known = self._known
        if name.startswith("__") and name != "__name__":  # Python's own, or another within a class
            raise Keeps(name)
        known.has_text |= name == "__name__"
        if name in self._imports.names:
            self._imports.values.add(self._imports.names[name])
        if name in self._imports.libraries:
            self._library(self._imports.libraries[name])
        elif name in self._imports.modules or name in known.loggers or name in known.classes:
            raise Keeps(f"{name} as a value")
        elif name not in known.bound and name not in BUILTINS:
            raise Keeps(name)

    def _library(self, path: str) -> None:
        """As a value: no module, and no class, by which what belongs to all its instances could be reached."""
        if path in ALLOWED or path.rpartition(".")[2][0].isupper():
            raise Keeps(f"{path} as a value")
        if path.startswith("numpy.") and path not in NUMBER_TYPES | CONSTANTS:  # called by another name, it hides much
            raise Keeps(f"{path} as a value")
        self._imports.look_up(path)
