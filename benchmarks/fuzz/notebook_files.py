"""Notebooks, damaged and looked through for definitions and text."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from benchmarks.fuzz import material
from benchmarks.fuzz.bytewise import damaged
from benchmarks.fuzz.endings import ends_well, looked_through
from benchmarks.fuzz.structured import damaged_json, damaged_lines, encoded

_WORDS = (
    *("cells", "cell_type", "source", "code", "markdown", "raw", "heading", "input", "worksheets", "nbformat"),
    *("metadata", "nbformat_minor", "outputs", "output_type", "id", "language", "level", "attachments"),
    *("execution_count", "text", "%%bash\\n", "def attention(", "import *", "lambda: (yield)", "x = ", "'''"),
    *("async def f(): await g()", "{{"),
)


_PYTHON = (
    *("%%bash", "%time f()", "!ls", "attention?", "x = %who", "def attention(Q): return Q", "class attention(B[0]):"),
    *(
        "if x:\n    y = 1\nelif x:\n    y = 2",
        "try:",
        "except* E:",
        "else:",
        "for i in x:",
        "while True:",
        "with a as b:",
    ),
    *(
        "import *",
        "from x import *",
        "from . import y",
        "import a.b as attention",
        "global attention",
        "nonlocal x",
        "del x",
    ),
    *(
        "attention = attention",
        "*a, (b, [c]) = d",
        "a.b.c[0] = 1",
        "x: int = ",
        "x += 1",
        "f()[0] = 1",
        "(y := 3)",
        "lambda: (yield)",
    ),
    *(
        "async def f(): await g()",
        "match x:\n    case {'a': [*_]}: pass",
        "f'{x!r:{y}}'",
        "f'{",
        "'''",
        "\\",
        "@",
        "return",
        "yield",
    ),
    *("x = " + "(" * 90 + ")" * 90, "x = " + "-" * 5_000 + "1", "x = a" + ".b" * 2_000, "x = " + "1+" * 3_000 + "1"),
    *(
        "if x:\n pass\n" + "elif x:\n y = 1\n" * 60,
        "\n".join(" " * n + "if x:" for n in range(90)),
        "\x00",
        "\ud800",
        "\x0c",
        "\t",
    ),
)


def make(rng: Random) -> bytes:
    text = rng.choice(material.notebooks())
    by_bytes = rng.random() < 0.2
    if rng.random() < 0.6:
        text = _with_other_code(text, rng)
    elif not by_bytes:
        text = damaged_json(text, rng, _WORDS)
    content = encoded(text, rng)
    return damaged(content, rng, rng.choice(material.notebooks()).encode()) if by_bytes else content


def _with_other_code(text: str, rng: Random) -> str:
    """The notebook is as it should be, and what stands in its cells is not."""
    book = json.loads(text)
    cells = book["cells"] if "cells" in book else book["worksheets"][0]["cells"]
    for cell in rng.sample(cells, rng.randint(1, len(cells))):
        key = "source" if "source" in cell else "input"
        cell[key] = damaged_lines("".join(cell[key]), rng, _PYTHON)
    return json.dumps(book)


def read(content: bytes, folder: Path) -> bool:
    path = folder / "hw3.ipynb"
    path.write_bytes(content)
    return ends_well(lambda: looked_through(path))
