"""PDFs written by hand: small honest ones, and ones made to break whoever reads them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

PDFS = Path(__file__).parent / "answers" / "pdfs"
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def pdf(objects: Mapping[int, bytes], trailer: bytes = b"") -> bytes:
    """A file of these objects; 1 is the catalogue."""
    out, offsets = bytearray(b"%PDF-1.7\n"), {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, size = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 %s \n" % (offsets.get(number, 0), b"n" if number in offsets else b"f")
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(out)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    packed = zlib.compress(content, 9)
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream" % (len(packed), entries, packed)


def pages(contents: Sequence[bytes], resources: bytes = b"/Font << /F 3 0 R >>", catalogue: bytes = b"") -> bytes:
    """A page for each stream of drawing commands, its font by the name of F."""
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalogue, 3: _FONT}
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(len(contents)))
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(contents))
    for index, content in enumerate(contents):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << %s >> >>"
        objects[4 + 2 * index] = page % (5 + 2 * index, resources)
        objects[5 + 2 * index] = stream(content)
    return pdf(objects)


def text_page(*rows: str) -> bytes:
    """Drawing commands for rows of text from the top of a page on."""
    return b"".join(
        b"BT /F 11 Tf 72 %d Td (%s) Tj ET\n" % (760 - 20 * index, row.encode()) for index, row in enumerate(rows)
    )


def scan(count: int) -> bytes:
    """Pages that are nothing but a picture."""
    image = stream(
        bytes(64 * 64),
        b"/Type /XObject /Subtype /Image /Width 64 /Height 64 /ColorSpace /DeviceGray /BitsPerComponent 8",
    )
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 3: image}
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(count))
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count)
    for index in range(count):
        shown = b"/Contents %d 0 R /Resources << /XObject << /I 3 0 R >> >>" % (5 + 2 * index)
        objects[4 + 2 * index] = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] %s >>" % shown
        objects[5 + 2 * index] = stream(b"q 595 0 0 842 0 0 cm /I Do Q")
    return pdf(objects)


def locked() -> bytes:
    guard = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"41" * 32, b"42" * 32)
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [] /Count 0 >>", 3: guard}
    return pdf(objects, b"/Encrypt 3 0 R /ID [<00> <00>]")


def page_loop() -> bytes:
    """A tree of pages that is its own branch."""
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 4 /Parent 2 0 R >>",
    }
    return pdf(objects)


def form_loop() -> bytes:
    """A drawing that draws itself."""
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources 6 0 R >>",
        6: b"<< /XObject << /X 5 0 R >> >>",
        4: stream(b"/X Do"),
        5: stream(
            b"/X Do /X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>"
        ),
    }
    return pdf(objects)


def bomb() -> bytes:
    """A page whose drawing commands unpack to half a gigabyte, packed twice."""
    packed = zlib.compress(zlib.compress(b"(" * (1 << 29), 9), 9)
    body = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(packed), packed)
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>",
        4: body,
    }
    return pdf(objects)


def deep() -> bytes:
    """Arrays within arrays."""
    nested = b"[" * 100_000 + b"]" * 100_000
    return pdf({1: b"<< /Type /Catalog /Pages 2 0 R /Deep %s >>" % nested, 2: b"<< /Type /Pages /Kids [] /Count 0 >>"})


def script() -> bytes:
    """It would open a page and write a file, if anybody ran it."""
    action = b"/OpenAction << /S /JavaScript /JS (app.launchURL\\('http://example.org'\\)) >>"
    return pages([text_page("1.b.i", "M = A")], catalogue=action)


def launch() -> bytes:
    """It would start a program when it is opened, and carries one along."""
    action = (
        b"/OpenAction << /S /Launch /F (/bin/sh) /Win << /F (cmd.exe) >> >> /AA << /WC << /S /URI /URI (http://x) >> >>"
    )
    carried = b"/Names << /EmbeddedFiles << /Names [(a.exe) << /Type /Filespec /F (a.exe) /EF << /F 3 0 R >> >>] >> >>"
    return pages([text_page("1.b.i", "M = A")], catalogue=action + carried)


def huge_page() -> bytes:
    """A page as large as the Earth, with text at its lower left."""
    whole = pages([text_page("1.b.i", "M = A")])
    return whole.replace(b"[0 0 595 842]", b"[0 0 1e30 1e30] /UserUnit 1e9")


def many_fonts(count: int = 5_000) -> bytes:
    """A font for every letter."""
    fonts = b" ".join(b"/F%d << /Type /Font /Subtype /Type1 /BaseFont /Font%d >>" % (n, n) for n in range(count))
    rows = (b"BT /F%d 11 Tf %d %d Td (a) Tj ET\n" % (n, 20 + 7 * (n % 70), 20 + 11 * (n // 70)) for n in range(count))
    return pages([b"".join(rows)], b"/Font << %s >>" % fonts)


def nested_forms(count: int, times: int) -> bytes:
    """A drawing that draws the next one so many times, which does the same."""
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] "
    form += b"/Resources << /XObject << /X %d 0 R >> /Font << /F 9 0 R >> >>"
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources 6 0 R >>",
        4: stream(b"/X Do"),
        6: b"<< /XObject << /X 10 0 R >> >>",
        9: _FONT,
    }
    for number in range(10, 10 + count):
        objects[number] = stream(b"/X Do " * times, form % (number + 1))
    objects[10 + count] = stream(text_page("1.b.i", "M = A"), form % 9)
    return pdf(objects)


def object_bomb() -> bytes:
    """Its catalogue stands in a stream of objects that unpacks to a quarter of a gigabyte."""
    held = b"1 0 2 40 " + b"<< /Type /Catalog /Pages 2 0 R >>".ljust(40) + b"<< /Type /Pages /Kids [] /Count 0 >>"
    packed = zlib.compress(held + b" " * (1 << 28), 9)
    about = b"<< /Type /ObjStm /N 2 /First 9 /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream"
    body = b"%PDF-1.7\n" + b"3 0 obj\n" + about % (len(packed), packed) + b"\nendobj\n"
    rows = (
        b"\0\0\0\0\0" + b"\2\0\0\3\0" + b"\2\0\0\3\1" + b"\1\0\0\x09\0" + b"\1" + len(body).to_bytes(3, "big") + b"\0"
    )
    entries = b"<< /Type /XRef /Size 5 /W [1 3 1] /Root 1 0 R /Length %d >>\nstream\n%s\nendstream"
    table = b"4 0 obj\n" + entries % (len(rows), rows) + b"\nendobj\n"
    return body + table + b"startxref\n%d\n%%%%EOF\n" % len(body)


def letters_everywhere(count: int = 130_000) -> bytes:
    """More letters than a sheet has, no two of them on a row, in sizes that make indices of them."""
    rows = (
        b"BT /F %d Tf 1 0 0 1 %.2f %.2f Tm (a) Tj ET\n"
        % (4 + n % 9, 20 + (n * 7919) % 550, 20 + (n * 104729 % 80000) / 100)
        for n in range(count)
    )
    return pages([b"".join(rows)])
