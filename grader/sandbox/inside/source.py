"""What a student's source takes from libraries, found by parsing and never by running it.

A hint, not proof: Python offers endless ways to spell a name. What is plainly written is found, and nothing of the
student's own is ever mistaken for a library's.
"""

from __future__ import annotations

import ast
import os

from .student_code import parsed

Mention = tuple[str, str, int]  # name, file, line

_MAX_FILES = 200
_REACHING_BY_STRING = {"getattr", "attrgetter", "__getattribute__"}


def mentions(file: str) -> tuple[list[Mention], bool]:
    """Every name that `file`, or a file of the student's that it imports, takes from a library.

    And whether all those files were read: a submission can have more than anyone would write.
    """
    waiting, read = [file], set[str]()
    found: set[Mention] = set()
    while waiting and len(read) < _MAX_FILES:
        path = waiting.pop()
        if path not in read:
            read.add(path)
            one = _File(path)
            found |= {(name[:80], place, line) for name, place, line in one.taken}
            waiting += one.own_files
    return sorted(found), not waiting


class _File:
    """One source file: the names it takes from libraries, and the student's files it imports."""

    def __init__(self, path: str) -> None:
        self._folder = os.path.dirname(path)
        self.taken: set[Mention] = set()
        self.own_files: list[str] = []
        self._libraries: set[str] = set()  # local names that stand for a library or a part of one
        self._star = False
        nodes = [(node, place) for place, tree in parsed(path) for node in ast.walk(tree)]
        for node, place in nodes:
            self._see_import(node, place)
        for node, _ in nodes:
            self._see_alias(node)
        for node, place in nodes:
            self._see_use(node, place)

    def _see_import(self, node: ast.AST, place: str) -> None:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if own := self._own_file(alias.name, 0):
                        self.own_files += own
                    else:
                        self._libraries.add(alias.asname or alias.name.partition(".")[0])
            case ast.ImportFrom(module=module, names=names, level=level):
                for alias in names:
                    dotted = f"{module}.{alias.name}" if module else alias.name
                    own = self._own_file(dotted, level) + self._own_file(module or "", level)
                    if own or level:
                        self.own_files += own
                    else:
                        self._star |= alias.name == "*"
                        self._libraries.add(alias.asname or alias.name)
                        self.taken.add((alias.name, place, node.lineno))

    def _see_alias(self, node: ast.AST) -> None:
        """`layer = torch.nn` makes `layer` another name for a library."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() | ast.Name() as value):
                if self._root(value) in self._libraries:
                    self._libraries.add(name)

    def _see_use(self, node: ast.AST, place: str) -> None:
        match node:
            case ast.Attribute(attr=name) if self._root(node) in self._libraries:
                self.taken.add((name, place, node.lineno))
            case ast.Name(id=name) if self._star:
                self.taken.add((name, place, node.lineno))
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=args):
                if called in _REACHING_BY_STRING:
                    texts = [arg for arg in args if isinstance(arg, ast.Constant)]
                    self.taken |= {(text.value, place, node.lineno) for text in texts if isinstance(text.value, str)}

    def _root(self, node: ast.AST) -> str:
        while isinstance(node, ast.Attribute):
            node = node.value
        return node.id if isinstance(node, ast.Name) else ""

    def _own_file(self, module: str, level: int) -> list[str]:
        """The student's file or package that an import means, looked for beside this file and above it."""
        folders = [self._folder, ""] if not level else [self._folder]
        for _ in range(level - 1):
            folders = [os.path.dirname(folder) for folder in folders]
        for folder in folders:
            stem = os.path.join(folder, *module.split("."))
            found = [path for path in (f"{stem}.py", os.path.join(stem, "__init__.py")) if os.path.isfile(path)]
            if module and found:
                return found
        return []
