"""Notebooks, damaged and looked through for definitions and text."""

from __future__ import annotations

from pathlib import Path
from random import Random

from benchmarks.fuzz import material
from benchmarks.fuzz.bytewise import damaged
from benchmarks.fuzz.endings import ends_well, looked_through
from benchmarks.fuzz.structured import damaged_json, encoded

_WORDS = (
    *("cells", "cell_type", "source", "code", "markdown", "raw", "heading", "input", "worksheets", "nbformat"),
    *("metadata", "nbformat_minor", "outputs", "output_type", "id", "language", "level", "attachments"),
    *("execution_count", "text", "%%bash\\n", "def attention(", "import *", "lambda: (yield)", "x = ", "'''"),
    *("async def f(): await g()", "{{"),
)


def make(rng: Random) -> bytes:
    text = rng.choice(material.notebooks())
    by_bytes = rng.random() < 0.25
    if not by_bytes or rng.random() < 0.3:
        text = damaged_json(text, rng, _WORDS)
    content = encoded(text, rng)
    return damaged(content, rng, rng.choice(material.notebooks()).encode()) if by_bytes else content


def read(content: bytes, folder: Path) -> bool:
    path = folder / "hw3.ipynb"
    path.write_bytes(content)
    return ends_well(lambda: looked_through(path))
