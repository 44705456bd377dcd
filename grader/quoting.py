"""Students' own words, made harmless to show: one line, no control characters, no tricks with direction."""

from __future__ import annotations

import unicodedata

_LIMIT = 200
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters beyond ASCII: what has none, as most words do, is not gone through for them.
_BLANKS = dict.fromkeys(map(ord, "\u2800\u3164\u115f\u1160\uffa0"), " ")


def place(file: str, line: int) -> str:
    """A line of a student's file; in a notebook the line of a cell, whose name the box gives as the file's."""
    return f"{quote(file)} line {line}" if ".ipynb cell " in file else f"{quote(file)}:{line}"


def quote(text: str, limit: int = _LIMIT) -> str:
    """One line of at most `limit` characters. What a terminal or browser would obey is shown as `�`.

    Categories: Cc control (ANSI escapes begin with one), Cf format (bidi overrides, zero width), Cs lone surrogates,
    Co private, Cn unassigned, Zl and Zp line breaks by another name. Some letters are drawn as nothing at all.
    """
    beginning = text[: 8 * limit]
    spaced = " ".join((beginning if beginning.isascii() else beginning.translate(_BLANKS)).split())
    safe = spaced if spaced.isprintable() else "".join(map(_shown, spaced))
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


def visible(text: str) -> str:
    """Many lines as they are, letter for letter, so that places in the text stay; what would be obeyed is shown as `�`,
    and so is what cannot be seen."""
    spaced = text if text.isascii() else text.translate(_BLANKS)
    if spaced.replace("\n", "").replace("\t", "").isprintable():
        return spaced
    return "".join(letter if letter in "\n\t" else _shown(letter) for letter in spaced)


def _shown(letter: str) -> str:
    """What `str.isprintable` lets pass is shown as it is, and so are blanks of other kinds."""
    return "�" if unicodedata.category(letter) in _HIDDEN else letter
