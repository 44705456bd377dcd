"""How the tables are written: words in a row, and meanings with their spellings."""

from __future__ import annotations

from collections.abc import Mapping


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def spelled(table: Mapping[str, str]) -> dict[str, str]:
    """From each meaning with its spellings to each spelling with its meaning."""
    return {spelling: meaning for meaning, spellings in table.items() for spelling in spellings.split()}
