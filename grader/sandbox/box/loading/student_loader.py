"""A student's source file: read, and run as far as somebody asks for it.

Lines that only IPython understands are taken out as in a notebook. What the names asked for do not need is left out
(`needed_statements`), until somebody asks for a name that it binds. Compiled files that were handed in are never run.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import importlib.machinery
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from types import CodeType, ModuleType
from typing import Any

from . import student_machine
from .magics import without_magics
from .needed_statements import TopLevel

_words: set[str] = set()  # in what has run: what a file that is imported by a star may be asked for
_trees: dict[str, tuple[bytes, ast.Module]] = {}  # of files, and what they were made from
_home: list[str] = []  # the top of the submission, once something of it is loaded


def parse(path: str) -> ast.Module:
    """As Python reads it: a BOM or a coding line counts. Without IPython's lines, where there are any. Read once, as
    long as the file stays what it is."""
    with open(path, "rb") as source:
        content = source.read()
    known, tree = _trees.get(path, (None, None))
    if tree is None or known != content:
        tree = _parsed(content, path)
        _trees[path] = content, tree
    return tree


def _parsed(content: bytes, path: str) -> ast.Module:
    try:
        return _that_compiles(content, path)
    except SyntaxError as error:  # only then: a line that begins with % may well continue an expression
        try:
            return _that_compiles(without_magics(importlib.util.decode_source(content)), path)
        except SyntaxError as other:
            # Where both have a mistake, the one that is no magic.
            raise (other if other.lineno != error.lineno else error) from None


def _that_compiles(content: bytes | str, path: str) -> ast.Module:
    """What is no program only as a whole (a stray `break`, an argument twice) is an error too, whatever is needed."""
    tree = ast.parse(content, path)
    with _filters([("ignore", None, Warning, None, 0)]):
        compile(tree, path, "exec", dont_inherit=True)
    return tree


@contextlib.contextmanager
def _filters(filters: list[Any]) -> Iterator[None]:
    """For warnings; `catch_warnings` touches twenty times the memory."""
    usual, warnings.filters = warnings.filters, filters
    try:
        yield
    finally:
        warnings.filters = usual


class Program:
    """The statements of one file, each run at most once, in the order of the file as far as it is known."""

    def __init__(self, path: str, module: ModuleType) -> None:
        tree = parse(path)
        self._path = path
        self._module = module
        self._top = TopLevel(tree)
        self._ran: set[int] = set()
        self._tried: set[int] = set()
        self._set_at: dict[str, int] = {}  # by which statement names got what they have
        # Nodes that are a future import have names; mypy does not see that the condition says so.
        names = (alias.name for node in tree.body if _is_future(node) for alias in node.names)  # type: ignore[attr-defined]
        self._flags = sum(getattr(__future__, name).compiler_flag for name in names if hasattr(__future__, name))
        module.__doc__ = ast.get_docstring(tree)

    @property
    def names(self) -> set[str]:
        """What it binds when all of it runs."""
        return self._top.bound

    @property
    def values(self) -> dict[str, Any]:
        """What is bound so far."""
        return vars(self._module)

    def provide(self, names: set[str]) -> None:
        """Run what these names need and has not run yet."""
        needed, tried = self._top.needed(names & self._top.bound)
        _words.update(names)
        for place in needed:
            _words.update(self._top.statements[place].identifiers)
        for place in sorted(needed | tried):
            if place not in (self._ran if place in needed else self._ran | self._tried):
                self._run(place, place in needed)

    def _run(self, place: int, is_needed: bool) -> None:
        one, values = self._top.statements[place], vars(self._module)
        code = compile(ast.Module([one.node], []), self._path, "exec", flags=self._flags, dont_inherit=True)
        before = dict(values)
        try:
            exec(code, values)
        except BaseException:  # a student's statement may raise anything, SystemExit included
            if is_needed:
                raise
            if one.is_definition:  # which may need what is run later
                return
        else:
            self._ran |= set() if one.is_star else {place}  # more may be asked of a star later
        self._tried.add(place)
        for name in [name for name in values if values[name] is not before.get(name, before)]:
            if (
                name in before and self._set_at.get(name, place) > place
            ):  # the last statement in the file decides, whenever it ran
                values[name] = before[name]
            else:
                self._set_at[name] = place


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


class OwnLoader(importlib.machinery.SourceFileLoader):
    """Loads a student's file and runs nothing of it but settings, until a name is asked for."""

    program: Program | None = None

    def exec_module(self, module: ModuleType) -> None:
        student_machine.offer(self.get_data(self.path))
        self.program = Program(self.path, module)
        if "__getattr__" in self.program.names:  # nobody but itself can say what it is asked for
            self.program.provide(self.program.names)
        else:
            vars(module)["__getattr__"] = self._left_out
            self.program.provide(set())

    def get_code(self, fullname: str) -> CodeType:
        """For `runpy` and the like: the source, whatever compiled files lie beside it."""
        code: CodeType = compile(parse(self.path), self.path, "exec", dont_inherit=True)
        return code

    def _left_out(self, name: str) -> Any:
        assert self.program is not None
        if name == "__all__" and name not in self.program.names:  # asked for by a star
            self.program.provide(_words)
        elif name in self.program.names:
            self.program.provide({name})
            if name in self.program.values:
                return self.program.values[name]
        raise AttributeError(f"{os.path.basename(self.path)} has no '{name}'")


class _Finder:
    """Finds what Python's own finder finds; where that is a student's file, it is loaded as one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not _home:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        return written_otherwise(fullname, path) if spec is None else as_own(spec)


class _SameModule:
    """Gives the module of another name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(self._name)

    def exec_module(self, module: ModuleType) -> None:
        return


def written_otherwise(fullname: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
    """`import transformers`, where the student's file is Transformers.py: the grader takes it for that, too."""
    package, _, name = fullname.rpartition(".")
    for folder in sys.path if path is None else path:
        if is_below_home(f"{folder}/{name}") and (other := in_other_letters(name, folder)):
            loader: Any = _SameModule(f"{package}.{other}".lstrip("."))
            return importlib.machinery.ModuleSpec(fullname, loader)
    return None


def in_other_letters(name: str, folder: str) -> str:
    """Which module lies in this folder whose name differs in nothing but capitals; none for a module of Python's."""
    files = sorted(os.listdir(folder or ".")) if os.path.isdir(folder or ".") else []
    alike = (file[:-3] for file in files if file.lower() == f"{name}.py".lower() and file != f"{name}.py")
    return "" if name in sys.stdlib_module_names else next(alike, "")


def as_own(spec: importlib.machinery.ModuleSpec) -> importlib.machinery.ModuleSpec | None:
    """The same with a loader for students' files, if it is one."""
    is_source = isinstance(spec.loader, importlib.machinery.SourceFileLoader)
    if not is_source or not spec.origin or not is_below_home(spec.origin):
        return None
    spec.loader = OwnLoader(spec.name, spec.origin)
    return spec


def is_below_home(path: str) -> bool:
    return any(os.path.abspath(path).startswith(home + os.sep) for home in _home)


def has_begun() -> bool:
    """Whether something is imported for its names; a script runs by itself."""
    return bool(_home)


def begin() -> None:
    """The working directory is the top of the submission, and nothing of it has run."""
    if not _home:
        _home.append(os.getcwd())
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def forget() -> None:
    _home.clear()
    _words.clear()
