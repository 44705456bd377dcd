"""What the names of a student's file stand for, and which values nothing can change."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from .pure_attributes import is_text, makes_an_array
from .pure_classes import Kinds
from .pure_imports import Imports, Keeps
from .pure_names import GIVES_NUMBERS, TYPES
from .trees import walk

_ANNOTATING = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.BinOp, ast.BitOr)
_NUMBERS = {"float", "int", "bool", "abs", "round", "min", "max"}


class Known:
    """The names of one file."""

    def __init__(self, imports: Imports, body: list[ast.stmt]) -> None:
        self.imports = imports
        self.body = body  # of the file
        self.kinds = Kinds()
        self.gives: set[str] = set()  # functions, classes, and values that never change
        self.numbers: set[str] = set()  # of these values, numbers and texts
        self.classes: set[str] = set()
        self.loggers: set[str] = set()
        self.bound: dict[str, int] = {}  # how often, anywhere in the file
        self.mentioned = Counter[str]()  # how often names are read
        self.gone_through: set[int] = set()  # the ids of `d.keys` and `d.items` in a loop or the like
        self.handed_over: dict[str, set[str]] = {}  # classes and functions, and what the grader alone gives them
        self.sorts = False  # a set of that
        self.has_text = False  # that code may put somewhere
        self.returns_text = False  # to the grader, as far as this file tells
        self.copies_dtype = False  # of a value, for an array

    def called(self, function: ast.AST) -> str:
        """The name by which something is called: a library's, or as it is written."""
        return self.imports.dotted(function) or (function.id if isinstance(function, ast.Name) else "")

    def defines(self, function: ast.expr) -> bool:
        """Whether it is a function of theirs: of this file, of a class above, or of another file."""
        match function:
            case ast.Name(id=name) if name in self.gives and self.bound[name] == 1:
                return True
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
                return True
        return self.imports.of_own(function) is not None

    def note(self, attribute: str, is_own: bool) -> None:
        """What an attribute may be: a text, or an array's way to make another of whatever it is given."""
        self.has_text |= is_text(attribute)
        if makes_an_array(attribute) and not is_own:
            self.imports.used.add(f"numpy.{attribute}")

    def is_asked_alone(self, place: str) -> bool:
        """Whether it is a function that this file does not call, so that what it returns goes to the grader."""
        return place in self.gives and place not in self.classes and not self.mentioned[place]

    def makes_logger(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=function, args=[ast.Name(id="__name__")], keywords=[]):
                return self.imports.dotted(function) == "logging.getLogger"
        return False

    def never_changes(self, value: ast.expr | None) -> bool:
        """Whether it is a value that nothing can change, as a number is."""
        match value:
            case None | ast.Lambda():
                return True
            case ast.Tuple(elts=parts):
                return all(map(self.never_changes, parts))
            case ast.Name(id=name):
                return name in self.gives and name not in self.classes and self.bound[name] == 1  # no method's too
        return self.is_number(value)

    def is_number(self, value: ast.expr) -> bool:
        """Whether it is one, or a text, or another single value: numpy makes arrays of tuples, and those change."""
        match value:
            case ast.Constant():
                return True
            case ast.BinOp(left=one, right=other):
                return self.is_number(one) and self.is_number(other)
            case ast.IfExp(test=test, body=one, orelse=other):
                return all(map(self.is_number, (test, one, other)))
            case ast.UnaryOp(operand=one) | ast.Attribute(value=ast.Call() as one, attr="min" | "max" | "eps" | "tiny"):
                return self.is_number(one)
            case ast.Name(id=name):
                return name in self.numbers
            case ast.Attribute(attr=name):
                return bool(self.imports.dotted(value)) and name[0].islower()
            case ast.Call(func=function, args=args, keywords=[]):
                name = self.called(function)
                gives = name in GIVES_NUMBERS or name in _NUMBERS or name.startswith("math.")
                return gives and all(map(self.is_number, args))
        return False

    def look_at_types(self, node: ast.AST) -> None:
        """Raise unless it only names types: an annotation is evaluated where it stands."""
        inner = set[int]()
        for one in walk(node):  # from the outside inwards
            if not isinstance(one, _ANNOTATING):
                raise Keeps("an annotation")
            if isinstance(one, ast.Attribute):
                inner.add(id(one.value))
                path = self.imports.dotted(one)
                if id(one) not in inner and not TYPES.fullmatch(path):
                    self.imports.look_up(path)

    def fills(self, function: ast.AST) -> bool:
        """Whether it gives all of a tensor other values."""
        return self.imports.dotted(function).startswith("torch.nn.init.")

    def sizes(self, value: ast.AST) -> Sequence[ast.AST]:
        """What `torch.empty` is given; nothing, if this is no such tensor."""
        match value:
            case ast.Call(func=function, args=[ast.Call() as inner], keywords=[]):
                return self.sizes(inner) if self.called(function) == "torch.nn.Parameter" else ()
            case ast.Call(func=function, args=sizes, keywords=[]) if self.imports.dotted(function) == "torch.empty":
                return sizes
        return ()
