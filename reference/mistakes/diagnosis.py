"""What a mistake looks like, in words for its author, and under a code for programs that read reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

_BETWEEN_CODES = "__"


class Diagnosis(str):
    """Words that carry a code, which stays the same however the words are changed."""

    code: str

    def __new__(cls, words: str, code: str = "") -> Self:
        made = super().__new__(cls, words)
        made.code = code
        return made


def all_of(mistakes: Sequence[Diagnosis], between: str = ", and ") -> Diagnosis:
    """Mistakes that are made at once, as one."""
    return Diagnosis(between.join(mistakes), _BETWEEN_CODES.join(each.code for each in mistakes))
