"""Did you mean …?, and what else an author is told about a value that does not fit."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


def did_you_mean(written: str, known: Iterable[str]) -> str:
    """A clause to end an error with: the nearest known word, or all of them if none is near."""
    words = sorted(known)
    if near := get_close_matches(written, words):
        return f"; did you mean '{near[0]}'?"
    return f"; known: {', '.join(words)}" if words else ""


def misfit(problem: Any, known: Iterable[str]) -> str:
    """One error that pydantic found, in words; `known` are the keys that mean something in its place."""
    name = str(problem["loc"][-1])
    match problem["type"]:
        case "extra_forbidden":
            return f"'{name}' has no meaning here{did_you_mean(name, known)}"
        case "missing":
            return f"'{name}' is missing"
        case "too_short":
            return f"'{name}' is empty"
        case "value_error" if name.isdigit():  # one of a list: what it says is a sentence about it
            return str(problem["msg"].removeprefix("Value error, "))
        case _:
            return f"'{name}' {problem['msg'].removeprefix('Value error, ').removeprefix('Input ')}"
