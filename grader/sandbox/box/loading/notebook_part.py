"""The part of a notebook that was asked for: statements of its cells, each compiled under its own cell's name."""

from __future__ import annotations
import __future__

import ast
import json
import os
from types import ModuleType
from typing import Any

from ..reading.scopes import bound_names
from . import later_modules, student_machine

_SEPARATOR = ".ipynb#"  # hw3.ipynb#attention.py: what hw3.ipynb holds of attention.py


def is_part(file: str) -> bool:
    return _SEPARATOR in file


def is_cell(place: str) -> bool:
    """Whether this names a cell, as `trees` does."""
    return ".ipynb cell " in place


def trees(file: str) -> list[tuple[str, ast.Module]]:
    """For each cell its name, `hw3.ipynb cell 7`, and the statements to run."""
    with open(file, encoding="utf-8") as stored:
        part = json.load(stored)
    notebook = file.rpartition("#")[0]
    places = [f"{notebook} cell {cell['cell']}" for cell in part["cells"]]
    return [(at, _kept(cell, set(part["names"]), at)) for at, cell in zip(places, part["cells"], strict=True)]


def _kept(cell: dict[str, Any], names: set[str], place: str) -> ast.Module:
    tree: ast.Module = ast.parse(cell["source"])
    compile(tree, place, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)  # Jupyter would run none of it
    tree.body = [tree.body[index] for index in cell["keep"]]
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):  # `import numpy as np, torchvision` for the sake of np
            node.names = [alias for alias in node.names if names.union("*").intersection(bound_names(alias))]
    return tree


def run(path: str) -> ModuleType:
    """A module with these definitions in it."""
    module = ModuleType(os.path.splitext(os.path.basename(path).partition(_SEPARATOR)[2])[0])
    later_modules.enter(module.__name__, module)  # where dataclasses look themselves up
    vars(module)["display"] = lambda *shown, **options: None  # every notebook has it without an import
    with open(path, "rb") as stored:
        student_machine.offer(stored.read())
    for place, tree in trees(path):
        # Annotations stay text: what only they name was not taken along.
        program = compile(tree, place, "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
        exec(program, vars(module))
    return module
