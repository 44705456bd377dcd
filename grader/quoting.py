"""Students' own words, made harmless to show: one line, no control characters, no tricks with direction."""

from __future__ import annotations

import unicodedata

_LIMIT = 200
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANKS = dict.fromkeys(map(ord, "\u2800\u3164\u115f\u1160\uffa0"), " ")


def place(file: str, line: int) -> str:
    """A line of a student's file; in a notebook the line of a cell, whose name the box gives as the file's."""
    return f"{quote(file)} line {line}" if ".ipynb cell " in file else f"{quote(file)}:{line}"


def quote(text: str, limit: int = _LIMIT) -> str:
    """One line of at most `limit` characters. What a terminal or browser would obey is shown as `�`.

    Categories: Cc control (ANSI escapes begin with one), Cf format (bidi overrides, zero width), Cs lone surrogates,
    Co private, Cn unassigned, Zl and Zp line breaks by another name. Some letters are drawn as nothing at all.
    """
    spaced = " ".join(text[: 8 * limit].translate(_BLANKS).split())
    safe = "".join(map(_shown, spaced))
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


def visible(text: str) -> str:
    """Many lines as they are, letter for letter, so that places in the text stay; what would be obeyed is shown as `�`,
    and so is what cannot be seen."""
    return "".join(letter if letter in "\n\t" else _shown(letter) for letter in text.translate(_BLANKS))


def _shown(letter: str) -> str:
    return "�" if unicodedata.category(letter) in _HIDDEN else letter
