"""What plain statements use, told from their trees, is what Python's own table of symbols says."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from grader.sandbox.inside import plain_names
from grader.sandbox.inside.top_level import names_used

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SOURCES = [
    path
    for folder in ("submissions", "reference", "grader/checks", "grader/formulas")
    for path in sorted((REPOSITORY / folder).rglob("*.py"))
]


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


def _is_what_the_table_says(found: set[str], node: ast.stmt) -> bool:
    by_table = set().union(*names_used(node, annotations=True))
    if sys.version_info < (3, 12):
        return found == by_table
    # What a comprehension outside of functions binds is among the module's names there.
    inner = [one for whole in ast.walk(node) if isinstance(whole, _COMPREHENSIONS) for one in ast.walk(whole)]
    bound = {one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return found <= by_table <= found | bound


def _functions(path: Path) -> list[ast.stmt]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):  # some samples are meant to have mistakes
        return []
    methods = [one for node in tree.body if isinstance(node, ast.ClassDef) for one in node.body]
    return [*tree.body, *methods]


def test_all_sources_here_use_what_the_table_says() -> None:
    told = 0
    for path in SOURCES:
        for node in _functions(path):
            found = plain_names.names_in(node)
            # The table takes a function called `top` for a module.
            if found is not None and getattr(node, "name", "") != "top":
                assert _is_what_the_table_says(found, node), f"{path}:{node.lineno}"
                told += 1
    assert told > 500


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("import numpy as np", set()),
        ("from numpy import *", set()),
        ("SCALE = np.sqrt(D)", {"np", "D"}),
        ("count += step", {"count", "step"}),
        ("def f(x: x, y=K) -> R:\n    z = x + y + W\n    return np.exp(z)", {"x", "K", "R", "W", "np"}),
        ("@wrapped(by)\ndef f(*xs, **named):\n    del xs\n    return named[key]", {"wrapped", "by", "key"}),
        ("def f():\n    import math as m, os.path\n    return m.pi, os.path", set()),
        ("def f():\n    try:\n        return g()\n    except E as e:\n        return e", {"g", "E"}),
        ("def f(x):\n    for i in range(n):\n        x[i] += i\n    return x", {"range", "n"}),
        ("def f(x):\n    return [x + n for x in x if m]", {"n", "m"}),
        ("def f():\n    return {k: v for a in b for k, v in a.items() if c(k)}", {"b", "c"}),
        ("pairs = [(i, j) for i in rows for j in row(i)] + [i]", {"rows", "row", "i"}),
        ("x = {x for x in x}", {"x"}),
        ("def f(d):\n    split = lambda W, by=B: (W @ C).reshape(by, d)\n    return split(W)", {"B", "C", "W"}),
        ("def f():\n    y = 1\n    return lambda x: sum(x * y * z for z in (lambda: w)())", {"sum", "w"}),
        ("def f():\n    def g(n: N = D):\n        return n + m + g(k)\n    return g\n", {"N", "D", "m", "k"}),
        ("def f():\n    @g\n    def g():\n        h = 1\n    return h", {"h"}),
    ],
)
def test_plain_statements(source: str, used: set[str]) -> None:
    (node,) = ast.parse(source).body
    assert plain_names.names_in(node) == used
    assert _is_what_the_table_says(used, node)


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    global n\n    n = 1",
        "def f(x):\n    return [(y := x) + n for x in z]",
        "def f():\n    return lambda x, x: n",
        "def f():\n    def g():\n        global n\n        n = 1\n    return g",
        "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n = 1\n    return g",
        "def f():\n    async def g():\n        return [x async for x in n]\n    return g",
        "async def f():\n    return [x async for x in n]",
        "def f():\n    return super().f()",
        "def f():\n    return [super().f() for _ in x]",
        "def f(x, x):\n    return x",
        "def f(x):\n    match x:\n        case [y]:\n            return y",
        "def f(x):\n    n: int = x\n    return n",
        "x = [y := 1]",
        "class A:\n    pass",
        "if x:\n    y = 1",
    ],
)
def test_what_is_less_plain_is_left_to_the_table(source: str) -> None:
    (node,) = ast.parse(source).body
    assert plain_names.names_in(node) is None
