"""An answer as paragraphs, displayed formulas and items of lists, each of words and formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_ITEM = "- "
_INLINE = re.compile(r"\$(.+?)\$", re.DOTALL)


@dataclass(frozen=True)
class Span:
    text: str
    is_math: bool


@dataclass(frozen=True)
class Block:
    kind: Literal["paragraph", "display", "item"]
    spans: tuple[Span, ...]


def blocks(text: str) -> list[Block]:
    return [block for chunk in text.split("\n\n") for block in _blocks(chunk)]


def _blocks(chunk: str) -> Iterator[Block]:
    for number, piece in enumerate(_DISPLAY.split(chunk)):
        if number % 2:
            yield Block("display", (Span(_in_one_line(piece), True),))
        elif piece.startswith(_ITEM):
            items = f"\n{piece}".split(f"\n{_ITEM}")[1:]
            yield from (Block("item", _spans(_in_one_line(item))) for item in items)
        elif words := _in_one_line(piece):
            yield Block("paragraph", _spans(words))


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _spans(words: str) -> tuple[Span, ...]:
    pieces = _INLINE.split(words)
    return tuple(Span(piece, bool(number % 2)) for number, piece in enumerate(pieces) if piece)
