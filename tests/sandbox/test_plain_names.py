"""What plain statements use, told from their trees, is what Python's own table of symbols says."""

from __future__ import annotations

import ast
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


def _by_table(node: ast.stmt) -> set[str]:
    return set().union(*names_used(node, annotations=True))


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
                assert found == _by_table(node), f"{path}:{node.lineno}"
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
    ],
)
def test_plain_statements(source: str, used: set[str]) -> None:
    (node,) = ast.parse(source).body
    assert plain_names.names_in(node) == used == _by_table(node)


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    global n\n    n = 1",
        "def f(x):\n    return [x + n for x in y]",
        "def f():\n    return lambda: n",
        "def f():\n    def g():\n        return n\n    return g",
        "def f():\n    return super().f()",
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
