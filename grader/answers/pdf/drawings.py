"""What is drawn on a page of a PDF beside its letters: rules, pictures, strokes, and what lies over something else."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

MAX_OBJECTS = 4_000  # of a page, looked at for rules and pictures: a plot drawn by lines has more, and holds no answer
_TEXT, _PATH, _IMAGE, _FORM = 1, 2, 3, 5  # kinds of objects on a page
_RULE_HEIGHT = 2.0  # points: bars of fractions, lines through words
_MAX_FORMS = 8  # within each other
_MAX_COVERS = 40  # of a page, as many as are compared with each letter
_CORNERS = 6  # segments of a rectangle, at most: five, and one that closes it
_OPAQUE = 255

Bounds = tuple[float, float, float, float]  # left, bottom, right, top
Matrix = tuple[float, float, float, float, float, float]
_UNCHANGED: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Cover:
    """Something that may be opaque, and when it was drawn."""

    order: int
    bounds: Bounds
    shown: Bounds  # what clips leave of it
    picture: Picture | None = None  # a rectangle has one colour everywhere

    def hides(self, x: float, right: float, y: float, bottom: float, top: float) -> bool:
        """A letter whose middle lies under it; blanks have no height."""
        across, up = (x + right) / 2, (bottom + top) / 2 if top > bottom else y
        left, low, far, high = self.shown
        if not (left <= across <= far and low <= up <= high):
            return False
        left, low, far, high = self.bounds
        if self.picture is None or far <= left or high <= low:
            return True
        return self.picture.is_opaque_at((across - left) / (far - left), (high - up) / (high - low))


class Picture:
    """Looked into only if letters lie under it: as large as it is on the page, so that no file makes it huge."""

    def __init__(self, document: Any, page: Any, drawn: Any) -> None:
        self._of = document, page, drawn
        self._bitmap: Any = None

    def is_opaque_at(self, across: float, down: float) -> bool:
        if self._bitmap is None:
            self._bitmap = pdfium.FPDFImageObj_GetRenderedBitmap(*self._of) or False
        if not self._bitmap:
            return True  # it cannot be shown; whatever lies under it is for a person
        if pdfium.FPDFBitmap_GetFormat(self._bitmap) != pdfium.FPDFBitmap_BGRA:
            return True
        width, height = pdfium.FPDFBitmap_GetWidth(self._bitmap), pdfium.FPDFBitmap_GetHeight(self._bitmap)
        column, row = min(int(across * width), width - 1), min(int(down * height), height - 1)
        at = row * pdfium.FPDFBitmap_GetStride(self._bitmap) + 4 * column + 3
        pixels = ctypes.cast(pdfium.FPDFBitmap_GetBuffer(self._bitmap), ctypes.POINTER(ctypes.c_ubyte))
        return bool(pixels[at] == _OPAQUE)

    def close(self) -> None:
        if self._bitmap:
            pdfium.FPDFBitmap_Destroy(self._bitmap)


@dataclass
class Drawings:
    rules: list[list[int]] = field(default_factory=list)
    pictures: int = 0
    strokes: int = 0
    covers: list[Cover] = field(default_factory=list)
    orders: dict[int, int] = field(default_factory=dict)  # of each piece of text: when it was drawn

    def above(self, text: int | None) -> list[Cover]:
        """What was drawn after a piece of text. Of one that was not looked at, nothing is claimed."""
        order = self.orders.get(text or 0)
        return [cover for cover in self.covers if order is not None and cover.order > order]

    def close(self) -> None:
        for cover in self.covers:
            if cover.picture is not None:
                cover.picture.close()


def hundredths(length: float) -> int:
    """Bounded: nobody reads what lies further out."""
    return round(100 * max(-1e5, min(1e5, length))) if math.isfinite(length) else 0


def drawings_of(document: Any, page: Any) -> Drawings:
    found = Drawings()
    for order, (drawn, within) in enumerate(_objects(page)):
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind == _TEXT:
            found.orders[_address(drawn)] = order
        elif kind in (_PATH, _IMAGE) and (bounds := _bounds(drawn, within)):
            _count(found, kind, bounds)
            picture = Picture(document, page, drawn) if kind == _IMAGE else None
            may_cover = picture is not None or _is_filled_rectangle(drawn)
            if may_cover and len(found.covers) < _MAX_COVERS and not pdfium.FPDFPageObj_HasTransparency(drawn):
                found.covers.append(Cover(order, bounds, _clipped(drawn, bounds, within), picture))
    return found


def _objects(page: Any) -> Iterator[tuple[Any, Matrix]]:
    """Every object in the order of drawing, those of forms among them, with what moves it to its place."""
    left = MAX_OBJECTS
    waiting = [(_on(page), _UNCHANGED)]
    while waiting and left:
        drawn = next(waiting[-1][0], None)
        within = waiting[-1][1]
        if drawn is None:
            waiting.pop()
            continue
        left -= 1
        if pdfium.FPDFPageObj_GetType(drawn) == _FORM and len(waiting) < _MAX_FORMS:
            waiting.append((_in(drawn), _moved(_matrix(drawn), within)))
        else:
            yield drawn, within


def _on(page: Any) -> Iterator[Any]:
    return (pdfium.FPDFPage_GetObject(page, index) for index in range(pdfium.FPDFPage_CountObjects(page)))


def _in(form: Any) -> Iterator[Any]:
    return (pdfium.FPDFFormObj_GetObject(form, index) for index in range(max(0, pdfium.FPDFFormObj_CountObjects(form))))


def _count(found: Drawings, kind: int, bounds: Bounds) -> None:
    left, bottom, right, top = bounds
    if kind == _IMAGE:
        found.pictures += 1
    elif top - bottom <= _RULE_HEIGHT < right - left:
        found.rules.append([hundredths(one) for one in bounds])
    else:
        found.strokes += 1


def _is_filled_rectangle(path: Any) -> bool:
    mode, stroked = ctypes.c_int(), ctypes.c_int()
    colour = tuple(ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFPath_GetDrawMode(path, mode, stroked) or not mode.value:
        return False
    if not pdfium.FPDFPageObj_GetFillColor(path, *colour) or colour[3].value != _OPAQUE:
        return False
    count = pdfium.FPDFPath_CountSegments(path)
    if not 4 <= count <= _CORNERS:
        return False
    corners = {
        point for index in range(count) if (point := _point(pdfium.FPDFPath_GetPathSegment(path, index))) is not None
    }
    return len(corners) == 4 and len({x for x, _ in corners}) == 2 and len({y for _, y in corners}) == 2


def _clipped(drawn: Any, bounds: Bounds, within: Matrix) -> Bounds:
    """What of it is shown: no more than where it is let through."""
    clip = pdfium.FPDFPageObj_GetClipPath(drawn)
    for number in range(max(0, pdfium.FPDFClipPath_CountPaths(clip)) if clip else 0):
        count = min(pdfium.FPDFClipPath_CountPathSegments(clip, number), _CORNERS)
        segments = (pdfium.FPDFClipPath_GetPathSegment(clip, number, index) for index in range(count))
        points = [point for segment in segments if (point := _point(segment)) is not None]
        if points:
            bounds = _common(bounds, _around(points, within))
    return bounds


def _common(one: Bounds, other: Bounds) -> Bounds:
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def _point(segment: Any) -> tuple[float, float] | None:
    x, y = ctypes.c_float(), ctypes.c_float()
    return (x.value, y.value) if segment and pdfium.FPDFPathSegment_GetPoint(segment, x, y) else None


def _bounds(drawn: Any, within: Matrix) -> Bounds | None:
    left, bottom, right, top = values = tuple(ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(drawn, *values):
        return None
    found = left.value, bottom.value, right.value, top.value
    if within != _UNCHANGED:
        found = _around([(x, y) for x in found[::2] for y in found[1::2]], within)
    return found if all(map(math.isfinite, found)) else None


def _around(points: list[tuple[float, float]], within: Matrix) -> Bounds:
    a, b, c, d, e, f = within
    across, up = [a * x + c * y + e for x, y in points], [b * x + d * y + f for x, y in points]
    return min(across), min(up), max(across), max(up)


def _matrix(form: Any) -> Matrix:
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(form, found):
        return _UNCHANGED
    return found.a, found.b, found.c, found.d, found.e, found.f


def _moved(one: Matrix, other: Matrix) -> Matrix:
    """First by the one, then by the other."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _address(drawn: Any) -> int:
    return ctypes.cast(drawn, ctypes.c_void_p).value or 0
