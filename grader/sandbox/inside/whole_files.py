"""Files of functions that may be run as they stand: nothing in them takes time, or can go wrong, before it is called.

Of other files only what is needed is run (`top_level`), and to find that takes as long as all else that a box does at
first. Which files these are is told by reading, before there is a box.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

_whole: set[str] = set()


def are(paths: list[str]) -> None:
    """Known by reading, here or elsewhere."""
    _whole.update(paths)


def forget() -> None:
    _whole.clear()


def may_be_run(path: str) -> bool:
    return path in _whole


def holds_functions_alone(body: list[ast.stmt], libraries: Iterable[str]) -> bool:
    """Whether this file, which keeps nothing, is one. What it names of libraries has to be loaded by now. What stands
    below a main guard nobody has read, so there must be none."""
    return all(name.partition(".")[0] in sys.modules for name in libraries) and all(map(_only_defines, body))


def _only_defines(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()) | ast.Assign(value=ast.Constant()):
            return True
        case ast.FunctionDef(args=arguments, decorator_list=[], returns=None):
            given = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            defaults = (*arguments.defaults, *arguments.kw_defaults)
            return all(one is None or one.annotation is None for one in given) and all(
                one is None or isinstance(one, ast.Constant) for one in defaults
            )
    return False
