"""What the lexer hands to the grammar, and the one way to say that something cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Far beyond any honest answer, and small enough that nothing that follows becomes slow.
MAX_CHARACTERS = 20_000
MAX_TOKENS = 4_000
MAX_DIGITS = 40
MAX_DEPTH = 40
MAX_NAME = 40
MAX_DECIMAL_EXPONENT = 300  # floats end at 1e308


class Unreadable(Exception):
    """What is written cannot be read; `place` is the character where it goes wrong."""

    def __init__(self, cause: str, place: int = 0) -> None:
        super().__init__(cause)
        self.cause = cause
        self.place = place


@dataclass(frozen=True)
class Token:
    """`kind` is what the grammar sees; `value` the symbol, number, function or relation it stands for."""

    kind: str
    value: Any
    start: int
    end: int
