"""A PDF → its glyphs: which letter, where, how large, in which font; and the rules and pictures beside them.

It decides nothing: lines, indices and fractions are made of this outside. Lengths are hundredths of a point, from the
lower left corner of the page.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import pypdfium2.raw as pdfium

from .drawings import Cover, Drawings, drawings_of, hundredths

# A sheet of a hundred pages is no answer sheet any more; the longest we have seen has 25.
MAX_PAGES = 100
# As many letters as a text sheet may have (answers/sheet.py).
MAX_GLYPHS = 2**17
MAX_FONT_NAME = 64

_PASSWORD = 4  # FPDF_ERR_PASSWORD
_TEXT_UNSEEN = (3, 7)  # neither filled nor stroked
_WHITE = 244  # of 255; what is paler cannot be read on paper
_LEAST_SIZE = 2.0  # points; smaller letters cannot be read either
_SLANT = 0.05  # as a share: rows that rise more steeply are stamps and watermarks


class _Handles:
    """What pdfium wants to be filled in."""

    def __init__(self) -> None:
        self.x, self.y = ctypes.c_double(), ctypes.c_double()
        self.box = tuple(ctypes.c_double() for _ in range(4))
        self.loose = pdfium.FS_RECTF()
        self.matrix = pdfium.FS_MATRIX()
        self.colour = tuple(ctypes.c_uint() for _ in range(4))
        self.name = ctypes.create_string_buffer(MAX_FONT_NAME)
        self.flags = ctypes.c_int()


def start() -> None:
    pdfium.FPDF_InitLibrary()


def glyphs_of(data: bytes) -> dict[str, Any]:
    """{"pages": [...], "fonts": [...], "page_count": n, "cut": bool}, or {"refused": why}."""
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        return {"refused": "password" if pdfium.FPDF_GetLastError() == _PASSWORD else "broken"}
    try:
        count = pdfium.FPDF_GetPageCount(document)
        fonts: dict[str, int] = {}
        left, pages = MAX_GLYPHS, []
        for number in range(min(count, MAX_PAGES)):
            page = _page(document, number, fonts, left)
            pages.append(page)
            left -= len(page["x"])
            if left <= 0:
                break
        return {"pages": pages, "fonts": list(fonts), "page_count": count, "cut": len(pages) < count or left <= 0}
    finally:
        pdfium.FPDF_CloseDocument(document)


def _page(document: Any, number: int, fonts: dict[str, int], most: int) -> dict[str, Any]:
    found: dict[str, Any] = {"width": 0, "height": 0, "text": "", "unmapped": [], "styles": [], "rules": []}
    found |= {"pictures": 0, "strokes": 0, "x": [], "right": [], "y": [], "bottom": [], "top": [], "style": []}
    page = pdfium.FPDF_LoadPage(document, number)
    if not page:
        return found
    try:
        width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
        if not (math.isfinite(width) and math.isfinite(height)):
            return found
        found["width"], found["height"] = hundredths(width), hundredths(height)
        drawings = drawings_of(document, page)
        found |= {"rules": drawings.rules, "pictures": drawings.pictures, "strokes": drawings.strokes}
        text = pdfium.FPDFText_LoadPage(page)
        if text:
            try:
                _letters(text, found, fonts, most, drawings)
            finally:
                pdfium.FPDFText_ClosePage(text)
                drawings.close()
    finally:
        pdfium.FPDF_ClosePage(page)
    return found


def _letters(text: Any, found: dict[str, Any], fonts: dict[str, int], most: int, drawings: Drawings) -> None:
    letters: list[str] = []
    handles = _Handles()
    styles: dict[tuple[int, int, bool], int] = {}
    last, seen, high = None, (0, 0, False), 0
    covers: list[Cover] = []
    x, y, box, loose = handles.x, handles.y, handles.box, handles.loose
    for index in range(min(pdfium.FPDFText_CountChars(text), most)):
        code = pdfium.FPDFText_GetUnicode(text, index)
        if pdfium.FPDFText_IsGenerated(text, index):
            continue
        if 0xD800 <= code < 0xDC00:  # the first half of a letter beyond the first plane
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high & 0x3FF) << 10) + (code & 0x3FF) if high else 0xFFFD
        high = 0
        pdfium.FPDFText_GetCharOrigin(text, index, x, y)
        pdfium.FPDFText_GetLooseCharBox(text, index, loose)
        pdfium.FPDFText_GetCharBox(text, index, *box)  # left, right, bottom, top
        places = (x.value, max(loose.right, x.value), y.value, box[2].value, box[3].value)
        if not all(map(math.isfinite, places)):
            continue
        drawn = ctypes.cast(pdfium.FPDFText_GetTextObject(text, index), ctypes.c_void_p).value
        if drawn != last or drawn is None:
            last, seen = drawn, _style(text, index, fonts, handles)
            covers = drawings.above(drawn)
        shown = seen
        if covers and any(cover.hides(*places) for cover in covers):
            shown = (*seen[:2], True)
        if pdfium.FPDFText_HasUnicodeMapError(text, index):
            found["unmapped"].append(len(letters))
        letters.append(chr(code) if code < 0x110000 else "\ufffd")
        for name, place in zip(("x", "right", "y", "bottom", "top"), places, strict=True):
            found[name].append(hundredths(place))
        found["style"].append(styles.setdefault(shown, len(styles)))
    found["text"] = "".join(letters)
    found["styles"] = [list(one) for one in styles]


def _style(text: Any, index: int, fonts: dict[str, int], handles: _Handles) -> tuple[int, int, bool]:
    """Its font, its size, and whether a reader sees it."""
    pdfium.FPDFText_GetFontInfo(text, index, handles.name, MAX_FONT_NAME, handles.flags)
    name = bytes(handles.name.value).decode("utf-8", "replace")
    matrix = handles.matrix
    scale, slanted = 1.0, False
    if pdfium.FPDFText_GetMatrix(text, index, matrix):
        scale = math.sqrt(abs(matrix.a * matrix.d - matrix.b * matrix.c))
        slanted = abs(matrix.b) > _SLANT * abs(matrix.a) or matrix.a < 0
    size = pdfium.FPDFText_GetFontSize(text, index) * scale
    drawn = pdfium.FPDFText_GetTextObject(text, index)
    unseen = bool(drawn) and pdfium.FPDFTextObj_GetTextRenderMode(drawn) in _TEXT_UNSEEN
    if pdfium.FPDFText_GetFillColor(text, index, *handles.colour):
        red, green, blue, opaque = (one.value for one in handles.colour)
        unseen = unseen or min(red, green, blue) > _WHITE or opaque == 0
    unseen = unseen or slanted or not size >= _LEAST_SIZE
    return fonts.setdefault(name, len(fonts)), hundredths(size), unseen
