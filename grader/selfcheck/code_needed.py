"""Which files of code a file of code needs: itself, and what it imports from beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from grader.model import is_code


def code_needed(file: str, folder: Path, files: Iterable[str]) -> set[str]:
    """By the names in imports: any file of that name counts, wherever it lies."""
    by_name: dict[str, list[str]] = {}
    for path in files:
        if is_code(path):
            by_name.setdefault(PurePosixPath(path).stem, []).append(path)
    needed, waiting = {file}, [file]
    while waiting:
        for name in _imported(folder / waiting.pop()):
            new = [path for path in by_name.get(name, ()) if path not in needed]
            needed.update(new)
            waiting += new
    return needed


def _imported(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (step for alias in node.names for step in alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)
