"""Did you mean …?"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(written: str, known: Iterable[str]) -> str:
    """A clause to end an error with: the nearest known word, or all of them if none is near."""
    words = sorted(known)
    near = get_close_matches(written, words, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; known: {', '.join(words)}" if words else ""
