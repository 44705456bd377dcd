"""One page of a PDF → pixels. It draws where nothing can be reached (`child.py`) and hands out numbers only."""

from __future__ import annotations

import base64
import ctypes
import math
from typing import Any

import pypdfium2.raw as pdfium

_WIDTH = 1000  # pixels: a line of a typed page can be read, and a picture has some 100 KB
_MAX_HEIGHT = 2000
_MAX_SCALE = 4.0  # of a stamp-sized page
_WHITE = 0xFFFFFFFF
_ANNOTATIONS = 0x01  # comments and form fields are part of what was handed in
_CHANNELS = 4


def pixels_of(data: bytes, number: int) -> dict[str, Any]:
    """{"width", "height", "scale" (pixels for one point), "pixels" (BGRx, base64)}, or {"refused": why}."""
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        return {"refused": "broken"}
    page = pdfium.FPDF_LoadPage(document, number - 1)
    if not page:
        return {"refused": "no such page"}
    across, down = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    if not (math.isfinite(across) and math.isfinite(down) and across > 0 and down > 0):
        return {"refused": "broken"}
    scale = min(_WIDTH / across, _MAX_HEIGHT / down, _MAX_SCALE)
    width, height = max(1, round(across * scale)), max(1, round(down * scale))
    buffer = ctypes.create_string_buffer(_CHANNELS * width * height)
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_BGRx, buffer, _CHANNELS * width)
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, _WHITE)
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, _ANNOTATIONS)
    pixels = base64.b64encode(buffer.raw).decode()
    return {"width": width, "height": height, "scale": scale, "pixels": pixels}
