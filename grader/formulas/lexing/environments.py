"""\\begin and \\end: what only arranges formulas is a break, a matrix written out is one thing that is not read."""

from __future__ import annotations

import re

from grader.formulas.lexing.cursor import Cursor
from grader.formulas.lexing.tokens import Token
from grader.notation.layout import DISPLAYS
from grader.quoting import quote

_COST = re.compile(r"\s*\\?(?:mathcal\s*\{?\s*)?[OΘ]\}?\s*(?:\\left\s*)?\(")


def read_environment(cursor: Cursor, name: str, start: int) -> Token:
    environment = cursor.group()
    plain = environment.rstrip("*")
    if plain in DISPLAYS or (plain == "cases" and (name == "end" or _arranges(cursor, environment))):
        if plain in ("array", "alignat") and cursor.next_is("{"):
            cursor.group()  # how many columns there are
        return cursor.token("BREAK", environment, start)
    # A matrix or cases written out: one thing, which the grammar has no use for.
    end = _closed(cursor, environment)
    cursor.at = len(cursor.text) if end < 0 else end + len(_closing(environment))
    return cursor.token("OPAQUE", f"\\begin{{{quote(environment, 20)}}}", start)


def _arranges(cursor: Cursor, environment: str) -> bool:
    """Whether every row in this brace is an equation or a cost by itself, and not one of several values."""
    end = _closed(cursor, environment)
    rows = [row for row in cursor.text[cursor.at : max(end, cursor.at)].split("\\\\") if row.strip()]
    equations = not cursor.last_is("RELATION") and all("=" in row.partition("&")[0] for row in rows)
    return bool(rows) and (equations or all(_COST.match(row) for row in rows))


def _closed(cursor: Cursor, environment: str) -> int:
    """Where the environment ends; -1 if it never does."""
    return cursor.text.find(_closing(environment), cursor.at)


def _closing(environment: str) -> str:
    return f"\\end{{{environment}}}"
