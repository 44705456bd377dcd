"""What a function takes from libraries, found by reading all the code it may reach and never by running it.

Python offers endless ways to spell a name. What is plainly written is found; what looks names up while it runs is told
apart, for a person to see; and nothing of the student's own is mistaken for a library's. Code that the function
does not reach (a demo, another part's helper) is not looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .name_resolution import IMPORTING, Library, Meaning, Own, Sources, text_that_names
from .scopes import COMPREHENSIONS, DEFINITIONS, Definition, Imported, Scope, Value, is_main_guard, root_name, run_with

Mention = tuple[str, str, int]  # name, file, line

# By these a name can be reached that is written nowhere, or is written in a text that reading does not follow.
_LOOKUPS = {
    *(f"builtins.{name}" for name in ("exec", "eval", "compile", "globals", "locals", "__import__")),
    *(f"sys.{name}" for name in ("modules", "_getframe", "setprofile", "getprofile", "settrace")),
    # These tell code that its calls are recorded, or take the place of the recorder.
    *(f"threading.{name}" for name in ("getprofile", "setprofile", "gettrace", "settrace", "_profile_hook")),
    *("cProfile", "_lsprof", "profile", "trace", "bdb", "pdb"),
    *("importlib", "runpy", "ctypes", "pickle", "marshal", "inspect.getmembers", "torch.utils._python_dispatch"),
}
_ATTRIBUTES = {"__globals__", "__builtins__", "__subclasses__", "__getattribute__", "__loader__", "f_globals"}
_BY_TEXT = {"builtins.getattr", "operator.attrgetter", "operator.methodcaller"}
_OF_A_MODULE = {"builtins.vars", "builtins.setattr"}  # applied to anything else, they raise no question
_BINDING_UNSEEN = {"builtins.exec", "builtins.globals", "builtins.setattr"}
_NAME_LENGTH = 200


def mentions(file: str, name: str) -> dict[str, Any]:
    """What `name` of `file` takes from libraries, in four lists of mentions, and whether all it reaches was read."""
    reading = _Reading()
    reading.follow(file, name)
    own = {name for scope in reading.tops for tree in scope.trees for name in _names_given(tree)}
    return {
        "taken": _listed(reading.taken),  # certainly a library's
        # Names that may also be the student's, and attributes of something unknown that none of the student's has.
        "perhaps": _listed({one for one in reading.perhaps if one[0] not in own}),
        "lookups": _listed(reading.lookups),
        "complete": reading.sources.complete,
    }


def _names_given(tree: ast.Module) -> Iterator[str]:
    """What functions, classes, attributes and named arguments are called here."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.keyword(arg=str(name)):
                yield name


def _listed(found: set[Mention]) -> list[Mention]:
    return sorted(((name[-_NAME_LENGTH:], file, line) for name, file, line in found), key=lambda one: one[1:])


class _Reading:
    """The code that one function reaches, by name and by the student's own files, while it is being read."""

    def __init__(self) -> None:
        self.sources = Sources()
        self.taken: set[Mention] = set()
        self.perhaps: set[Mention] = set()
        self.lookups: set[Mention] = set()
        self._waiting: list[tuple[ast.AST, Scope]] = []
        self._seen: set[int] = set()
        self.tops: list[Scope] = []
        self._used: set[tuple[Scope, str]] = set()  # names, by the module that they are used in
        self._attributes: set[str] = set()
        self._methods: dict[str, list[Definition]] = {}  # of classes reached, until something asks for the name

    def follow(self, file: str, name: str) -> None:
        top = self.sources.top(file)
        assert top is not None
        self._look_at(ast.Name(name, ast.Load(), lineno=1), top)
        self._visit_all()
        for scope in self.tops:  # grows meanwhile
            for tree in scope.trees:
                statement: ast.AST = tree
                for node, _ in run_with(tree.body):
                    statement = node if isinstance(node, ast.stmt) else statement
                    if self._changes_something(node, scope):
                        self._waiting.append((statement, scope))
            self._visit_all()

    def _visit_all(self) -> None:
        while self._waiting:
            node, scope = self._waiting.pop()
            if id(node) in self._seen or is_main_guard(node):
                continue
            self._seen.add(id(node))
            self._look_at(node, scope)
            if isinstance(node, DEFINITIONS):  # waits until its name is used
                continue
            if isinstance(node, (*COMPREHENSIONS, ast.Lambda)):
                scope = scope.within(node)
            # Annotations use nothing.
            inside = [node.target, node.value] if isinstance(node, ast.AnnAssign) else ast.iter_child_nodes(node)
            self._waiting += [(inner, scope) for inner in inside if inner is not None]

    def _look_at(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._used.add((scope.top, name))
                self._see(node, scope)
            case ast.Attribute(attr=name):
                self._see_attribute(name, node, scope, self._see(node, scope))
            case ast.Call():
                self._see_call(node, scope)
            case ast.ImportFrom(module=module, names=aliases, level=level):
                for alias in aliases:
                    for end in self.sources.imported(Imported(module or "", alias.name, level), scope):
                        if isinstance(end, Library):
                            self._note(self.taken, end.path, node)
        if scope.top not in self.tops:
            self.tops.append(scope.top)

    def _see(self, node: ast.AST, scope: Scope) -> list[Meaning]:
        """A name, an attribute, or a call that looks one up: where it leads, and whether that is a library's."""
        for end in self.sources.ends(node, scope):
            if isinstance(end, Definition):
                self._reach(end)
            elif isinstance(end, Value):
                self._waiting.append((end.node, end.scope))
        meanings = self.sources.meanings(node, scope)
        certain = all(isinstance(one, Library) for one in meanings)
        for meaning in meanings:
            if isinstance(meaning, Library):
                self._note(self.taken if certain else self.perhaps, meaning.path, node)
                if any(f"{meaning.path}.".startswith(f"{one}.") for one in _LOOKUPS):  # one of these, or part of one
                    self._note(self.lookups, meaning.path.removeprefix("builtins."), node)
        return meanings

    def _see_attribute(self, name: str, node: ast.AST, scope: Scope, meanings: list[Meaning]) -> None:
        self._attributes.add(name)
        for method in self._methods.pop(name, ()):
            self._reach(method)
        if meanings == [None]:
            self._note(self.perhaps, name, node)
        of_a_module = isinstance(node, ast.Attribute) and name == "__dict__" and self._is_module(node.value, scope)
        if of_a_module or name in _ATTRIBUTES:
            self._note(self.lookups, name, node)

    def _see_call(self, node: ast.Call, scope: Scope) -> None:
        """Calls that reach something by a text: what they reach, if the text is written there."""
        meanings = self._see(node, scope)
        first = node.args[0] if node.args else None
        for called in self.sources.meanings(node.func, scope):
            path = called.path if isinstance(called, Library) else ""
            text = text_that_names(path, node.args)
            if path in IMPORTING and text:
                self._seen.add(id(node.func))  # as good as an import
            if path in _BY_TEXT and text:
                for name in text.split("."):
                    self._see_attribute(name, node, scope, meanings)
            of_itself = isinstance(first, ast.Name) and first.id in ("self", "cls")
            computed = path in _BY_TEXT and not text and not of_itself
            whole = path in _OF_A_MODULE and (first is None or self._is_module(first, scope))
            if computed or whole:
                self._note(self.lookups, path.removeprefix("builtins."), node)

    def _reach(self, definition: Definition) -> None:
        node, scope = definition
        if id(node) in self._seen:
            return
        self._seen.add(id(node))
        inner = scope.within(node)
        around = [*node.decorator_list]
        if isinstance(node, ast.ClassDef):
            around += [*node.bases, *(one.value for one in node.keywords)]
        else:
            around += [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        self._waiting += [(one, scope) for one in around]
        for statement in node.body:
            if isinstance(node, ast.ClassDef) and isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._offer(Definition(statement, inner))
            else:
                self._waiting.append((statement, inner))

    def _offer(self, method: Definition) -> None:
        """Methods count when something asks for their name; Python and torch ask for some unseen."""
        name = method.node.name
        if name in self._attributes or name == "forward" or (name.startswith("__") and name.endswith("__")):
            self._reach(method)
        else:
            self._methods.setdefault(name, []).append(method)

    def _changes_something(self, node: ast.AST, scope: Scope) -> bool:
        """`np.f = …`, `TABLE["f"] = …`, `exec(…)`: what changes, in a module, what is used, by no new name."""
        match node:
            case ast.Assign(targets=targets):
                roots = [root_name(target) for target in targets if not isinstance(target, ast.Name)]
                return any((scope, r) in self._used or self._is_module(ast.Name(r, ast.Load()), scope) for r in roots)
            case ast.Call(func=called):
                meanings = self.sources.meanings(called, scope)
                return any(isinstance(one, Library) and one.path in _BINDING_UNSEEN for one in meanings)
        return False

    def _is_module(self, node: ast.AST, scope: Scope) -> bool:
        return any(isinstance(one, Library | Own) for one in self.sources.meanings(node, scope))

    def _note(self, where: set[Mention], name: str, node: ast.AST) -> None:
        if id(node) in self.sources.shown:
            where.add((name, self.sources.shown[id(node)], getattr(node, "lineno", 0)))
