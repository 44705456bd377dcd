"""Tables of characters and their numbers: as they leave the box, and as they should be."""

from __future__ import annotations

from typing import Any

from .spans import MASK, PAD

Entries = tuple[tuple[Any, Any], ...]


def entries_of(table: Any) -> Entries | None:
    if not isinstance(table, list) or not all(isinstance(entry, list) and len(entry) == 2 for entry in table):
        return None
    if not all(isinstance(value, int | str | None) for entry in table for value in entry):
        return None
    return tuple((one, other) for one, other in table)


def right_vocabularies(data: str) -> tuple[list[str], list[str]]:
    """□, ⁇ and the sorted characters of the data, where the newline between documents may or may not be one."""
    special, letters = [PAD, MASK], sorted(set(data))
    return [*special, *letters], [*special, *(letter for letter in letters if letter != "\n")]


def without_letters_beyond_ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode()
