"""Which statements of a student's file the names asked for need: their definitions, what those use, and whatever may
change what they use.

A file is imported for its definitions. A demo below them (a training run, a download, a picture, a question to the
keyboard) uses them and changes nothing, so it is left out, and nobody waits for it. What cannot be told apart from a
setting stays in.
"""

from __future__ import annotations

import ast
import builtins
import sys
from dataclasses import dataclass
from functools import cache

from ..reading.scopes import DEFINITIONS, FUNCTIONS, bound_names, is_main_guard, names_used

# With these a name can be used that is written nowhere: then everything runs.
_UNSEEN = {"exec", "eval", "globals"}
_ALWAYS_THERE = {*dir(builtins), "__file__"}
_WORDS: dict[type, str] = {ast.Name: "id", ast.Attribute: "attr", ast.alias: "name", ast.Constant: "value"}
_Received = list[tuple[int | str, set[str]]]  # by place or name, the names that are passed on as they are
_NAMESPACES = {"vars", "locals"}  # `locals()["attention"] = …`
_FILLING = {"append", "extend", "insert", "add", "update", "setdefault", "register", "pop", "remove", "clear"}
_SHOWING = {"print", "input", "display", "help", "exit", "quit", "breakpoint"}
_DECORATING = {*sys.stdlib_module_names, "torch", "numpy"}  # and keep no list of what they decorate
# Calls of these ask a value for something and leave it as it is.
_ASKING = {
    *("get", "items", "keys", "values", "copy", "format", "join", "split", "strip", "lower", "upper", "index", "count"),
    *("numpy", "item", "detach", "cpu", "clone", "size", "mean", "sum", "tolist", "dim", "numel", "parameters", "eval"),
    *("named_parameters", "state_dict", "startswith", "endswith", "encode", "decode"),
}


@cache
def _all_used(node: ast.stmt) -> set[str]:
    """The global names it uses, at once or when it is called."""
    return set().union(*names_used(node, annotations=True))


@dataclass(eq=False)
class Statement:
    """A statement at the top level; an import of several names is several."""

    node: ast.stmt
    binds: set[str]

    @property
    def uses(self) -> set[str]:
        return _all_used(self.node)

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, DEFINITIONS)

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_star(self) -> bool:
        return isinstance(self.node, ast.ImportFrom) and self.node.names[0].name == "*"

    def renames(self, names: set[str]) -> bool:
        """`Block = EncoderBlock`: what is done to one is done to the other."""
        return bool(self.binds) and isinstance(self.node, ast.Assign) and getattr(self.node.value, "id", None) in names

    @property
    def identifiers(self) -> set[str]:
        """Every word in it that may be a name, in other files too."""
        words = [getattr(node, _WORDS[type(node)]) for node in ast.walk(self.node) if type(node) in _WORDS]
        return {word for word in words if type(word) is str}  # constants may be anything


class TopLevel:
    """A file's statements, and what they do to names."""

    def __init__(self, tree: ast.Module) -> None:
        self.statements = [one for node in tree.body for one in _separate(node)]
        self._last = {name: place for place, one in enumerate(self.statements) for name in one.binds}
        self.bound = set(self._last)
        self._defined: dict[str, ast.stmt] = {}  # functions and classes; methods by both names
        self._imported: dict[str, str] = {}  # names, and the packages that they are from
        for one in self.statements:
            if isinstance(one.node, ast.Import | ast.ImportFrom):
                self._imported.update(dict.fromkeys(one.binds, _package(one.node)))
            elif isinstance(one.node, DEFINITIONS):
                self._defined[one.node.name] = one.node
                methods = (inner for inner in one.node.body if isinstance(inner, ast.FunctionDef))
                self._defined.update((f"{one.node.name}.{method.name}", method) for method in methods)
        valued = (one.binds for one in self.statements if not one.is_definition and not one.is_import)
        self._values = set[str]().union(*valued)

    def needed(self, names: set[str]) -> tuple[set[int], set[int]]:
        """The places of the statements that these names need, and of those that may run but must not fail."""
        wanted = set(names)
        kept: set[int] = set()
        grown = True
        while grown:
            grown = False
            for place, one in enumerate(self.statements):
                if place not in kept and self._is_needed(place, one, wanted):
                    kept.add(place)
                    wanted |= one.uses | (one.binds if one.renames(wanted) else set())
                    grown = True
                    if one.uses & _UNSEEN - self.bound:
                        everything = {at for at, other in enumerate(self.statements) if not is_main_guard(other.node)}
                        return everything, set()
        tried = {place for place, one in enumerate(self.statements) if place not in kept and self._may_set(one, wanted)}
        return kept, self._with_their_imports(tried)

    def _with_their_imports(self, tried: set[int]) -> set[int]:
        """And with what they call; values that are left out they do without."""
        names: set[str] = set()
        found = set(tried)
        while wanted := {name for place in found for name in self.statements[place].uses} - names:
            names |= wanted
            for place, one in enumerate(self.statements):
                if (one.is_import or one.is_definition) and one.binds & wanted:
                    found.add(place)
        return found

    def _is_needed(self, place: int, one: Statement, wanted: set[str]) -> bool:
        if is_main_guard(one.node):
            return False
        if one.is_star:  # it may hold what nothing else binds, and bind again what is defined above it
            above = {name for name in wanted & self._defined.keys() if self._last[name] < place}
            return bool(above) or any(name not in self.bound and not hasattr(builtins, name) for name in wanted)
        if one.binds & wanted:
            return not self._is_a_trial(one.node)
        if one.is_import:
            return isinstance(one.node, ast.ImportFrom) and one.node.module == "__future__"
        return one.renames(wanted) or _sets_the_path(one.node) or self._changes(one.node, wanted, one.uses)

    def _is_a_trial(self, node: ast.stmt) -> bool:
        """`attention = attention(Q, K, V, 1.0)`: the result of trying it out, under its name. A function that makes
        functions is not tried out."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=called))):
                defined = self._defined.get(name)
                makes_one = isinstance(defined, ast.FunctionDef) and any(
                    isinstance(inner, ast.FunctionDef | ast.Lambda) for inner in [*ast.walk(defined)][1:]
                )
                return name == called and defined is not None and not makes_one
        return False

    def _changes(self, node: ast.AST, wanted: set[str], uses: set[str], seen: frozenset[str] = frozenset()) -> bool:
        """Whether running it may change something wanted: an attribute, an item, a container, a global name."""
        if isinstance(node, DEFINITIONS) and not seen:
            return self._is_registered(node, wanted)
        own = wanted & uses
        for inner in ast.walk(node):
            match inner:
                case ast.For(target=ast.Name(id=name), iter=several) if own & _given_as_it_is(several):
                    own = own | {name}
                case ast.Global(names=names) if wanted.intersection(names):
                    return True
                case ast.Attribute() | ast.Subscript() if not isinstance(inner.ctx, ast.Load):
                    if _root(inner) in own | _NAMESPACES:
                        return True
                case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in ("setattr", "delattr"):
                    if _root(first) in own or not isinstance(first, ast.Name):
                        return True
                case ast.Call(func=ast.Name(id=name)) if name in _UNSEEN - self.bound:
                    return True
                case ast.Call(func=ast.Name(id=name)) if name in self._defined:
                    if self._changes_when_called(name, _received(inner), wanted, seen):
                        return True
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if name in own:
                    if name in self._values and method not in _ASKING:
                        return True
                    if name not in self.bound and method in _FILLING:  # a parameter
                        return True
                    # `EncoderBlock.attach(forward)`, of a class of the file
                    if self._changes_when_called(f"{name}.{method}", [(0, {name})], wanted, seen):
                        return True
        return False

    def _changes_when_called(self, name: str, received: _Received, wanted: set[str], seen: frozenset[str]) -> bool:
        """Whether a function of the file may change something wanted, or what is wanted and passed to it."""
        called = self._defined.get(name)
        if name in seen or not isinstance(called, FUNCTIONS):
            return False
        names = [one.arg for one in (*called.args.posonlyargs, *called.args.args)]
        wanted_here = set(wanted)
        for place, given in received:
            if given & wanted:
                wanted_here.add(names[place] if isinstance(place, int) and place < len(names) else str(place))
                wanted_here |= {one.arg for one in (called.args.vararg, called.args.kwarg) if one is not None}
        return self._changes(called, wanted_here, _all_used(called) | wanted_here - wanted, seen | {name})

    def _is_registered(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, wanted: set[str]) -> bool:
        """A definition that a decorator or a base class of the student's own may put somewhere."""
        bases = [*node.bases, *(one.value for one in node.keywords)] if isinstance(node, ast.ClassDef) else []
        if any(_root(base) in wanted & self._defined.keys() for base in bases):
            return True
        for expression in (*bases, *node.decorator_list):
            name = _root(expression)
            if expression not in bases and name in self._values & wanted:
                return True
            defined = self._defined.get(name)
            if defined and self._changes(defined, wanted, _all_used(defined), frozenset({name})):
                return True
        calls = [ast.Call(decorator, [], []) for decorator in node.decorator_list]
        return any(self._changes(call, wanted, wanted, frozenset({node.name})) for call in calls)

    def _is_from_elsewhere(self, expression: ast.AST) -> bool:
        return self._imported.get(_root(expression), "torch") not in _DECORATING

    def _may_set(self, one: Statement, wanted: set[str]) -> bool:
        """Calls of libraries outside loops (`torch.set_default_dtype(…)`, `sys.path.append(…)`), and imports for
        what they do. They need nothing that is left out."""
        if is_main_guard(one.node):
            return False
        if one.is_definition:  # another file, which may be the student's, may note it
            deciding = [*getattr(one.node, "decorator_list", ()), *getattr(one.node, "bases", ())]
            return any(map(self._is_from_elsewhere, deciding))
        if one.is_import:
            return isinstance(one.node, ast.Import) or one.is_star
        if not isinstance(one.node, ast.Expr | ast.If | ast.With | ast.Try | ast.Assign):
            return False
        if any(isinstance(inner, ast.For | ast.While | ast.Assert | ast.Raise) for inner in ast.walk(one.node)):
            return False
        if isinstance(one.node, ast.Assign) and not all(_root(target) in self._imported for target in one.node.targets):
            return False
        ready = wanted | self._imported.keys() | _ALWAYS_THERE - _SHOWING
        calls = [inner for inner in ast.walk(one.node) if isinstance(inner, ast.Call)]
        received = [given for call in calls if self._is_from_elsewhere(call) for _, given in _received(call)]
        passed = wanted & set[str]().union(*received)
        return one.uses <= ready - (self._defined.keys() - passed) and (
            any(_root(call) in self._imported for call in calls) or isinstance(one.node, ast.Assign)
        )


def _separate(node: ast.stmt) -> list[Statement]:
    match node:
        case ast.Import(names=aliases):
            parts: list[ast.stmt] = [ast.copy_location(ast.Import([alias]), node) for alias in aliases]
        case ast.ImportFrom(module=module, names=aliases, level=level) if module != "__future__":
            parts = [ast.copy_location(ast.ImportFrom(module, [alias], level), node) for alias in aliases]
        case _:
            parts = [node]
    return [Statement(part, set(bound_names(part))) for part in parts]


def _package(node: ast.Import | ast.ImportFrom) -> str:
    if isinstance(node, ast.Import):
        return node.names[0].name.partition(".")[0]
    return "" if node.level else (node.module or "").partition(".")[0]


def _sets_the_path(node: ast.stmt) -> bool:
    """`sys.path.append(HERE)`: imports need it, whatever it needs itself."""
    attributes = (inner for inner in ast.walk(node) if isinstance(inner, ast.Attribute) and inner.attr == "path")
    return not isinstance(node, DEFINITIONS) and any(_root(inner) == "sys" for inner in attributes)


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _received(call: ast.Call) -> _Received:
    by_place = [(place, _given_as_it_is(one)) for place, one in enumerate(call.args)]
    return [*by_place, *((one.arg or "", _given_as_it_is(one.value)) for one in call.keywords)]


def _given_as_it_is(expression: ast.AST) -> set[str]:
    """`EncoderBlock`, `[EncoderBlock, Head]`, not `EncoderBlock(8)`: the names of what is no result of a call."""
    if isinstance(expression, ast.Name):
        return {expression.id}
    if isinstance(expression, ast.Call | ast.Lambda):
        return set()
    return {name for inner in ast.iter_child_nodes(expression) for name in _given_as_it_is(inner)}
