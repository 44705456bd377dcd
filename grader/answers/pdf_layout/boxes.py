"""Glyphs as boxes with a text: what kind of letter each is, told from its font."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.answers.pdf.process import PdfPage

_MATHS = re.compile(
    r"(?:^|\+)(?:CMMI|CMSY|CMEX|CMBSY|MSAM|MSBM|EUFM|EUSM|RSFS|(?:NEW)?[TP]XMI|[TP]XSY|[TP]XEX|R?[TP]XMI|ESINT|STMARY|WASY|"
    r"LMMATH|FOURIER-MATH)|MATH|KATEX_(?:AMS|SIZE)",
    re.IGNORECASE,
)
_BOLD = re.compile(r"BOLD|BLACK|HEAVY|DEMI|CMBX|SFBX|(?:^|\+)(?:LMROMAN\d+-B|NIMBUS\w*-.*MEDI)", re.IGNORECASE)
_LARGE_SIGNS = re.compile(r"(?:^|\+)(?:CMEX|[TP]XEX|LMMATHEXTENSION|EUEX)", re.IGNORECASE)
# TeX's fonts of large signs name their glyphs as no other font does: by place in the font, the same since 1986.
_BY_PLACE = {
    **dict.fromkeys("\x00\x10\x12\x20", "("), **dict.fromkeys("\x01\x11\x13\x21", ")"),
    **dict.fromkeys("\x02\x14\x22h", "["), **dict.fromkeys("\x03\x15\x23i", "]"),
    **dict.fromkeys("\x08\x1a\x28n", "{"), **dict.fromkeys("\x09\x1b\x29o", "}"),
    **dict.fromkeys("\x0a\x1c\x2aD", "⟨"), **dict.fromkeys("\x0b\x1d\x2bE", "⟩"),
    **dict.fromkeys("PX", "∑"), **dict.fromkeys("QY", "∏"), **dict.fromkeys("RZ", "∫"), **dict.fromkeys("pqrs", "√"),
    **dict.fromkeys("bcd", "ˆ"), **dict.fromkeys("efg", "˜"), "\x0c": "|", "\x0d": "∥",
}  # fmt: skip
_SAME = {"\x02": "-", "\xad": "-", "\u2010": "-", "\u2011": "-", "\xa0": " ", "′": "'", "\u200b": ""}
UNREADABLE = "\ufffd"


@dataclass(frozen=True, eq=False, slots=True)
class GlyphBox:
    """A glyph, or what several were put together to. Two boxes are the same only if they are one."""

    text: str
    left: int
    right: int
    y: int  # of the line it stands on
    bottom: int
    top: int
    size: int
    is_math: bool = False
    is_bold: bool = False
    is_large_sign: bool = False  # it hangs from its line instead of standing on it
    is_doubtful: bool = False
    is_struck: bool = False

    @property
    def middle(self) -> int:
        return (self.left + self.right) // 2

    def on(self, y: int) -> GlyphBox:
        return replace(self, y=y)


def boxes_of(page: PdfPage, fonts: Sequence[str]) -> tuple[list[GlyphBox], int]:
    """What a reader sees of a page, and how many letters are there that no reader sees."""
    kinds = [(bool(_MATHS.search(name)), bool(_BOLD.search(name)), bool(_LARGE_SIGNS.search(name))) for name in fonts]
    boxes: list[GlyphBox] = []
    unseen = 0
    for index, letter in enumerate(page.text):
        font, size, hidden = page.styles[page.style[index]]
        is_math, is_bold, is_large = kinds[font]
        text = _written(letter, is_large, index in page.unmapped)
        if not text.strip():
            continue
        outside = not (0 <= page.x[index] <= page.width and 0 <= page.y[index] <= page.height)
        if hidden or outside:
            unseen += 1
            continue
        places = page.x[index], page.right[index], page.y[index], page.bottom[index], page.top[index]
        mathematical = is_math or unicodedata.category(text[0]) == "Sm"
        boxes.append(GlyphBox(text, *places, size, mathematical, is_bold, is_large, UNREADABLE in text))
    return boxes, unseen


def _written(letter: str, is_large_sign: bool, unmapped: bool) -> str:
    """Letters of the mathematical alphabets and ligatures as plain ones; what nobody can tell as �."""
    if is_large_sign and (unmapped or letter in _BY_PLACE):
        return _BY_PLACE.get(letter, UNREADABLE)
    letter = _SAME.get(letter, letter)
    if "\U0001d400" <= letter <= "\U0001d7ff" or "\ufb00" <= letter <= "\ufb06":
        return unicodedata.normalize("NFKC", letter)
    if letter and (unmapped or unicodedata.category(letter[0]) in ("Cc", "Co", "Cs", "Cn")):
        return UNREADABLE
    return letter


def body_size(boxes: Sequence[GlyphBox]) -> int:
    """The size that most letters have."""
    return Counter(box.size for box in boxes).most_common(1)[0][0] if boxes else 0
