"""Text with one character for each meaning: small letters written out, look-alikes and other faces made plain."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from grader.formulas.lexing.stacked_rows import lists_of_columns
from grader.formulas.lexing.tokens import Unreadable
from grader.notation.faces import COMBINING
from grader.notation.letters import SAME_LETTER, SUBSCRIPTS, SUPERSCRIPTS

# What a reader cannot see must not change what is read: turned text is refused, the invisible is skipped.
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0e\ufe0f\u2061\u2062\u2063\u2064")

# Spaces are taken whole (`++`), so that a long run of them is tried once and not from every place inside it.
_COMPREHENSION = re.compile(
    r"\bsum\(\s*+\[?(?P<body>[^\n]{1,300}?)(?<!\s)\s++for\s++(?P<index>\w)\s++in\s++range\((?P<range>[^()]*)\)"
    r"\s*+\]?\s*+\)"
)
_BETWEEN = r"[^|⟨⟩,=+\n]{1,40}?"
_LEFT, _RIGHT = r"(?:\\langle(?![A-Za-z])|⟨)", r"(?:\\rangle(?![A-Za-z])|⟩)"
_KET_OR_BRA = re.compile(
    rf"{_LEFT}(?P<bra>{_BETWEEN})\|(?:(?P<inner>{_BETWEEN}){_RIGHT})?|\|\s*+(?P<ket>{_BETWEEN}){_RIGHT}"
)


@dataclass(frozen=True)
class Source:
    """The text as it is read, and where in the text as it was written each character came from."""

    text: str
    places: list[int]


def written_out(text: str) -> Source:
    """`kₐᵀ` as `k_{a}^{T}`; Unreadable if the text plays tricks with its direction."""
    letters: list[str] = []
    places: list[int] = []

    def put(piece: str, place: int) -> None:
        letters.extend(piece)
        places.extend([place] * len(piece))

    inside = ""  # the sign, ^ or _, of the run of small letters that is open
    for place, letter in enumerate(text):
        if letter in _BIDI:
            raise Unreadable("it holds a character that turns the direction of writing round; type it anew", place)
        if letter in _INVISIBLE:
            continue
        above, below = SUPERSCRIPTS.get(letter), SUBSCRIPTS.get(letter)
        kind = "^" if above else "_" if below else ""
        if inside and kind != inside:
            put("}", place)
        if kind and kind != inside:
            put(kind + "{", place)
        inside = kind
        if above or below:
            put(above or below or "", place)
        elif letter in COMBINING or not unicodedata.combining(letter):
            put(_plain(letter), place)
    if inside:
        put("}", len(text))
    source = Source("".join(letters), [*places, len(text)])
    return _kets_written_out(_sum_written_out(_matrices_as_lists(source)))


def _plain(letter: str) -> str:
    if "\U0001d400" <= letter <= "\U0001d7ff" or "\uff01" <= letter <= "\uff5e":  # 𝐀, 𝜷, ＋: another face
        letter = unicodedata.normalize("NFKC", letter)
    if unicodedata.category(letter) in ("Zs", "Zl", "Zp"):
        return " "
    return SAME_LETTER.get(letter, letter)


def _matrices_as_lists(source: Source) -> Source:
    text, places, at = "", list[int](), 0
    for start, end, listed in lists_of_columns(source.text):
        text += source.text[at:start] + listed
        places += [*source.places[at:start], *[source.places[start]] * (len(listed) - 1), source.places[end - 1]]
        at = end
    return Source(text + source.text[at:], [*places, *source.places[at:]]) if at else source


def _sum_written_out(source: Source) -> Source:
    """Python's `sum(f(i) for i in range(m))` as a sum with bounds."""
    text, places = source.text, source.places
    found = _COMPREHENSION.search(text)
    if not found:
        return source
    end = found["range"].split(",")[-1].replace("+1", "").replace("+ 1", "").strip()
    lead = f"\\sum_{{{found['index']}=1}}^{{{end}}}("
    start, stop = found.span("body")
    written = text[: found.start()] + lead + text[start:stop] + ")" + text[found.end() :]
    moved = [*places[: found.start()], *[places[found.start()]] * len(lead), *places[start:stop]]
    return Source(written, [*moved, places[stop], *places[found.end() :]])


def _kets_written_out(source: Source) -> Source:
    """|k⟩ as (k), ⟨k| as (k)^T, ⟨k|q⟩ as their product: physicists' columns and rows."""
    text, places, at = "", list[int](), 0
    for found in _KET_OR_BRA.finditer(source.text):
        text += source.text[at : found.start()]
        places += source.places[at : found.start()]
        for group, closes in (("bra", ")^T"), ("inner", ")"), ("ket", ")")):
            if found[group] is not None:
                start, end = found.span(group)
                text += f"({found[group]}{closes}"
                places += [source.places[start], *source.places[start:end], *[source.places[end]] * len(closes)]
        at = found.end()
    return Source(text + source.text[at:], [*places, *source.places[at:]]) if at else source
