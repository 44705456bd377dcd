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


WORDS = "words in a bracket"  # of a token that stands for them
_PARTNERS = {"(": ")", "[": "]", "{": "}", "⟨": "⟩"}


class Unreadable(Exception):
    """What is written cannot be read; `place` is the character where it goes wrong."""

    def __init__(self, cause: str, place: int = 0) -> None:
        super().__init__(cause)
        self.cause = cause
        self.place = place


class Unclosed(Unreadable):
    """A bracket that is not closed where the formula ends; perhaps it is closed behind that."""

    def __init__(self, bracket: str, place: int) -> None:
        super().__init__(f"the bracket '{bracket}' is never closed", place)
        self.bracket = bracket

    def within(self, text: str, place: int) -> Unreadable:
        """What to say of the bracket at this place of a whole text, where it may be closed after all."""
        closing = _PARTNERS.get(self.bracket, self.bracket)
        depth = 0
        for letter in text[place:]:
            depth += (letter == self.bracket) - (letter == closing)
            if depth == 0:
                return Unreadable(f"the bracket '{self.bracket}' holds something that is not read", self.place)
        return self


@dataclass(frozen=True)
class Token:
    """`kind` is what the grammar sees; `value` the symbol, number, function or relation it stands for."""

    kind: str
    value: Any
    start: int
    end: int
