"""A page of a student's PDF as a PNG. A process without reach draws it (pdf_process.py); what it sends is so many bytes
of colour, and the file that a browser gets is made of them here."""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from grader.answers.pdf.process import PdfNotRead, PdfProcess

Box = Sequence[float]  # left, bottom, right, top in points from the lower left corner, as reports give places

_MAX_PIXELS = 2 * 10**6
_CPU_SECONDS = 5  # a typed page takes a tenth of one
_MAX_SCALE = 100.0  # pixels for one point
_MARGIN = 42.0  # points above and below what is shown: two lines
_FRAME = (0x0B, 0x4F, 0xB3)
_NOT_DRAWN = "could not be drawn: it is damaged, or takes more time or memory than a page of answers does"


def page_picture(pdf: bytes, page: int, boxes: Sequence[Box] = (), *, whole: bool = False) -> bytes:
    """The page with a line beside each box; only the rows around the boxes, unless the whole page is wanted.
    PdfNotRead, in words that go behind its name, if it cannot be drawn."""
    with PdfProcess(_CPU_SECONDS, draws_page=page) as process:
        answer = process.draw(pdf)
    return picture_of(answer, boxes, whole=whole)


def picture_of(answer: dict[str, Any], boxes: Sequence[Box], *, whole: bool) -> bytes:
    """What the child said as a PNG."""
    width, height, scale, rows = _checked(answer)
    spans = [span for box in boxes if (span := _rows(box, height, scale))]
    for first, last in spans:
        for row in rows[first:last]:
            row[: 3 * 4] = bytes(_FRAME) * 4
    if spans and not whole:
        margin = int(_MARGIN * scale)
        rows = rows[max(0, min(first for first, _ in spans) - margin) : max(last for _, last in spans) + margin]
    return _png(width, rows)


def _checked(answer: dict[str, Any]) -> tuple[int, int, float, list[bytearray]]:
    """The child has had a hostile file in its hands: nothing of what it says is taken for granted."""
    if "refused" in answer:
        raise PdfNotRead("has no such page" if answer["refused"] == "no such page" else _NOT_DRAWN)
    try:
        width, height, scale = answer["width"], answer["height"], answer["scale"]
        data = base64.b64decode(answer["pixels"], validate=True)
    except (KeyError, TypeError, binascii.Error):
        raise PdfNotRead(_NOT_DRAWN) from None
    sized = type(width) is int and type(height) is int and min(width, height) > 0 and width * height <= _MAX_PIXELS
    if not sized or len(data) != 4 * width * height or type(scale) is not float or not 0 < scale < _MAX_SCALE:
        raise PdfNotRead(_NOT_DRAWN)
    rows = []
    for start in range(0, len(data), 4 * width):
        line, row = data[start : start + 4 * width], bytearray(3 * width)
        row[0::3], row[1::3], row[2::3] = line[2::4], line[1::4], line[0::4]
        rows.append(row)
    return width, height, scale, rows


def _rows(box: Box, height: int, scale: float) -> tuple[int, int] | None:
    first, last = (min(max(int(height - place * scale), 0), height) for place in (box[3], box[1]))
    return (first, last) if first < last else None


def _png(width: int, rows: Sequence[bytearray]) -> bytes:
    """Eight bits for each of red, green and blue; every row unfiltered."""
    head = struct.pack("!IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunks((b"IHDR", head), (b"IDAT", body), (b"IEND", b"")))


def _chunks(*chunks: tuple[bytes, bytes]) -> Iterator[bytes]:
    for kind, content in chunks:
        yield struct.pack("!I", len(content)) + kind + content + struct.pack("!I", zlib.crc32(kind + content))
