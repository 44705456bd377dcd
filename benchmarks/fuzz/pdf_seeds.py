"""Small PDFs to damage: the stored ones by LaTeX and a word processor, and ones built as other makers build them."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping
from functools import cache

from benchmarks.fuzz.material import REPOSITORY

_LARGEST = 60_000  # bytes; most of a larger one is fonts
_HEAD = b"%PDF-1.7\n"
_CONTENTS = (
    (  # a superscript, a heading, words
        *((14, 72, 760, "1.b.i"), (11, 72, 740, "M = AA"), (7, 120, 745, "T"), (11, 72, 720, "because it projects")),
        (11, 72, 700, "(ii) q = t(k + k), with t large"),
    ),
    tuple((11, 72, 760 - 14 * row, f"(b) ii. q = t(k + k), row {row} of five, as long as a pa-") for row in range(5)),
    ((11, 80, 500, "1"), (11, 80, 484, "2"), (11, 60, 492, "q =")),
)
SAYS = "because it projects"  # what every built one has on its first page

Objects = dict[int, bytes]


def _drawn(page: int) -> bytes:
    rows = b"".join(b"BT /F %d Tf %d %d Td (%s) Tj ET\n" % (*row[:3], row[3].encode()) for row in _CONTENTS[page])
    return rows + (b"78 497 10 0.4 re f\n" if page == 2 else b"")


def _hexadecimal(page: int) -> bytes:
    """Letters by number, as fonts with two bytes for a letter have them."""
    numbered = [(*row[:3], row[3].encode("utf-16-be").hex().encode()) for row in _CONTENTS[page]]
    return b"".join(b"BT /F %d Tf 1 0 0 1 %d %d Tm [<%s> -20] TJ ET\n" % row for row in numbered)


def _stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def _flate(content: bytes) -> bytes:
    return _stream(zlib.compress(content), b"/Filter /FlateDecode")


def _ascii(content: bytes) -> bytes:
    packed = base64.a85encode(zlib.compress(content)) + b"~>"
    return _stream(packed, b"/Filter [ /ASCII85Decode /FlateDecode ]")


_HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_BY_NUMBER = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /Arial /Encoding /Identity-H /ToUnicode 91 0 R /DescendantFonts "
    b"[ << /Type /Font /Subtype /CIDFontType2 /BaseFont /Arial /DW 500 /W [ 32 [ 250 ] 65 90 700 ] /CIDSystemInfo "
    b"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 92 0 R >> ] >>"
)
_DESCRIPTOR = (
    b"<< /Type /FontDescriptor /FontName /Arial /Flags 4 /FontBBox [ -200 -200 1000 900 ] /ItalicAngle 0 /Ascent 900 "
    b"/Descent -200 /CapHeight 700 /StemV 80 >>"
)
_TO_UNICODE = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def 1 begincodespacerange <0000> "
    b"<FFFF> endcodespacerange 1 beginbfrange <0020> <007E> <0020> endbfrange endcmap end end"
)


def _document(count: int, content: Callable[[int], bytes], packed: Callable[[bytes], bytes], font: bytes) -> Objects:
    kids = b" ".join(b"%d 0 R" % (4 + 2 * page) for page in range(count))
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 3: font}
    objects[2] = b"<< /Type /Pages /Kids [ %s ] /Count %d /MediaBox [ 0 0 595 842 ] >>" % (kids, count)
    for page in range(count):
        about = b"/Contents %d 0 R /Resources << /Font << /F 3 0 R >> >>" % (5 + 2 * page)
        objects[4 + 2 * page] = b"<< /Type /Page /Parent 2 0 R %s >>" % about
        objects[5 + 2 * page] = packed(content(page))
    if font is _BY_NUMBER:
        objects |= {91: _flate(_TO_UNICODE), 92: _DESCRIPTOR}
    return objects


def _within_a_form(count: int) -> Objects:
    """Everything is drawn by forms within forms, as exporters of slides do."""
    objects = _document(count, lambda page: b"q /X Do Q", _stream, _HELVETICA)
    for page in range(count):
        form = b"/Type /XObject /Subtype /Form /BBox [ 0 0 595 842 ] /Resources << %s >>"
        objects[40 + page] = _stream(b"/Y Do", form % (b"/XObject << /Y %d 0 R >>" % (50 + page)))
        objects[50 + page] = _stream(_drawn(page), form % b"/Font << /F 3 0 R >>")
        shown = b"/Contents %d 0 R /Resources << /XObject << /X %d 0 R >> >>" % (5 + 2 * page, 40 + page)
        objects[4 + 2 * page] = b"<< /Type /Page /Parent 2 0 R %s >>" % shown
    return objects


def _with_table(objects: Mapping[int, bytes]) -> bytes:
    out, offsets = bytearray(_HEAD), {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, size = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 %s \n" % (offsets.get(number, 0), b"n" if number in offsets else b"f")
    return bytes(out) + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)


def _without_table(objects: Mapping[int, bytes]) -> bytes:
    """Readers look for the objects."""
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % one for one in sorted(objects.items()))
    return _HEAD + body + b"trailer\n<< /Root 1 0 R /Size %d >>\n%%%%EOF\n" % (max(objects) + 1)


def _with_packed_objects(objects: Mapping[int, bytes]) -> bytes:
    """Whatever is no stream stands in a stream of objects, and the table is a stream, too."""
    loose = {number: body for number, body in objects.items() if b"stream" not in body}
    kept = {number: body for number, body in objects.items() if number not in loose}
    holder, table = max(objects) + 1, max(objects) + 2
    places, at = [], 0
    for number, body in loose.items():
        places.append(b"%d %d" % (number, at))
        at += len(body) + 1
    index = b" ".join(places) + b" "
    packed = zlib.compress(index + b" ".join(loose.values()))
    about = b"/Type /ObjStm /N %d /First %d /Filter /FlateDecode" % (len(loose), len(index))
    kept[holder] = _stream(packed, about)
    out, offsets = bytearray(_HEAD), {}
    for number, body in sorted(kept.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    offsets[table] = len(out)
    order = list(loose)
    rows = bytearray()
    for number in range(table + 1):
        kind, where, second = (0, 0, 0)
        if number in offsets:
            kind, where = 1, offsets[number]
        elif number in loose:
            kind, where, second = 2, holder, order.index(number)
        rows += bytes((kind,)) + where.to_bytes(3, "big") + bytes((second,))
    entries = b"/Type /XRef /Size %d /W [ 1 3 1 ] /Root 1 0 R /Filter /FlateDecode" % (table + 1)
    out += b"%d 0 obj\n%s\nendobj\n" % (table, _stream(zlib.compress(bytes(rows)), entries))
    return bytes(out) + b"startxref\n%d\n%%%%EOF\n" % offsets[table]


def _changed_later(objects: Mapping[int, bytes]) -> bytes:
    """A page is written anew behind the end, as programs do that save what changed."""
    first = _with_table(objects)
    at = len(first)
    start = first.rindex(b"xref\n0 ")
    later = b"5 0 obj\n%s\nendobj\n" % _stream(_drawn(0))
    table = b"xref\n5 1\n%010d 00000 n \ntrailer\n<< /Size %d /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n"
    return first + later + table % (at, max(objects) + 1, start, at + len(later))


@cache
def built() -> tuple[bytes, ...]:
    made = []
    for count in (1, 2, 3):
        plain = _document(count, _drawn, _stream, _HELVETICA)
        made += [_without_table(plain), _with_table(plain), _changed_later(plain)]
        made.append(_with_table(_document(count, _drawn, _ascii, _HELVETICA)))  # as ReportLab writes it
        made.append(_with_packed_objects(_document(count, _drawn, _flate, _HELVETICA)))  # as LaTeX and Quartz do
        made.append(_with_table(_document(count, _hexadecimal, _flate, _BY_NUMBER)))  # as Word and Chromium do
        made.append(_with_table(_within_a_form(count)))
    return tuple(made)


@cache
def stored() -> tuple[bytes, ...]:
    found = sorted((REPOSITORY / "tests" / "answers" / "pdfs").glob("*.pdf"))
    return tuple(path.read_bytes() for path in found if path.stat().st_size <= _LARGEST)
