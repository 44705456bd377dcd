"""What a student's source mentions, found by parsing and never by running it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from .student_code import ImportFailed

Mention = tuple[str, str, int]  # name, file, line

_MAX_FILES = 50


def mentions(file: str) -> list[Mention]:
    """Every name that `file`, or a file of the student's that it imports, takes from somewhere else."""
    waiting, read = [file], set[str]()
    found: set[Mention] = set()
    while waiting and len(read) < _MAX_FILES:
        path = waiting.pop()
        if path in read:
            continue
        read.add(path)
        with open(path, encoding="utf-8", errors="replace") as source:
            tree = _parse(source.read(), path)
        own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        for name, line, local in _names(tree, os.path.dirname(path)):
            if local:
                waiting.append(local)
            elif name not in own:
                found.add((name[:80], path, line))
        # `nn.MultiheadAttention` is torch's even where the student has a class of that name.
        found |= {(node.attr[:80], path, node.lineno) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return sorted(found)


def _parse(text: str, path: str) -> ast.AST:
    try:
        return ast.parse(text, os.path.abspath(path))
    except SyntaxError as error:
        raise ImportFailed from error


def _names(tree: ast.AST, folder: str) -> Iterator[tuple[str, int, str]]:
    """(name, line, "") for a name from outside; (…, path) for an import of the student's own file."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Constant(value=str(name)):  # strings, for getattr
                yield name, node.lineno, ""
            case ast.ImportFrom(module=module, names=names, level=level):
                for alias in names:
                    dotted = f"{module}.{alias.name}" if module else alias.name
                    local = _local_file(dotted, folder, level) or _local_file(module or "", folder, level)
                    yield alias.name, node.lineno, local
            case ast.Import(names=names):
                for alias in names:
                    yield alias.name.rpartition(".")[2], node.lineno, _local_file(alias.name, folder, 0)


def _local_file(module: str, folder: str, level: int) -> str:
    """The student's file that an import means, or an empty string."""
    for _ in range(level - 1):
        folder = os.path.dirname(folder)
    path = os.path.join(folder, *module.split(".")) + ".py" if module else ""
    return path if path and os.path.isfile(path) else ""
