"""Damage that knows what a PDF is made of: objects, references, dictionaries, packed streams, drawing commands."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from random import Random

from benchmarks.fuzz.bytewise import damaged

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_NAME = re.compile(rb"/[A-Z][A-Za-z0-9]+")
_REFERENCE = re.compile(rb"\b\d+ 0 R\b")
_OBJECT = re.compile(rb"\b\d+ 0 obj\b.*?\bendobj\b", re.DOTALL)
_PACKED = re.compile(rb"/FlateDecode[^>]*>>\s*stream\r?\n(.*?)\r?\n?endstream", re.DOTALL)
_VALUE = re.compile(rb"(?<=/)(?:Kids|Contents|Resources|Filter|MediaBox|Font|W|Length|Root|Prev|Parent|ToUnicode) ?")
_NUMBERS = (
    *(b"0", b"-1", b"1", b"4", b"255", b"65536", b"2147483647", b"2147483648", b"4294967296", b"-2147483649"),
    *(b"99999999999999999999", b"1e30", b"0.00001", b"-0.0", b"." * 9),
)
_NAMES = (
    *(b"/Kids", b"/Parent", b"/XObject", b"/Type3", b"/Type0", b"/Length", b"/ObjStm", b"/XRef", b"/Pages", b"/Page"),
    *(b"/LZWDecode", b"/ASCIIHexDecode", b"/RunLengthDecode", b"/DCTDecode", b"/JBIG2Decode", b"/JPXDecode", b"/Crypt"),
    *(b"/CCITTFaxDecode", b"/Identity-V", b"/UniGB-UCS2-H", b"/Encrypt", b"/Rotate", b"/CropBox", b"/Image", b"/Form"),
)
_VALUES = (
    *(b"null", b"[ ]", b"<< >>", b"true", b"()", b"<FEFF>", b"[ 1 0 R 2 0 R ]", b"2 0 R", b"9999 0 R", b"-1 0 R"),
    *(b"[ " * 600, b"<< /A " * 600, b"[ 2 0 R " * 60, b"[ 0 0 1e9 1e9 ]", b"[ 9 9 0 0 ]", b"[ /FlateDecode " * 40),
    *(b"(" * 300, b"<" * 3, b"/" + b"N" * 400, b"[ 8 8 8 ]", b"90"),
)
_DRAWING = (
    *(b"BT", b"ET", b"(A) Tj", b"[(A) -9999 (B)] TJ", b"/F 11 Tf", b"/F 0 Tf", b"/F -11 Tf", b"/None 11 Tf", b"T*"),
    *(b"9 9 Td", b"1e9 1e9 Td", b"q " * 90, b"Q " * 90, b"/X Do", b"0 0 9 9 re f", b"1 0 0 1 0 0 Tm", b"3 Tr", b"7 Tr"),
    *(
        b"1 1 1 rg",
        b"0 0 0 0 0 0 cm",
        b"1e9 0 0 1e9 0 0 cm",
        b"0 1 -1 0 0 0 cm",
        b"(\\377\\000\\12) Tj",
        b"<FEFF03B2> Tj",
    ),
    *(b"[", b"<<", b"BI /W 9 /H 9 ID xx EI", b"BI", b"500 Tc", b"-500 Tw", b"0 Tz", b"/Span << /MCID 0 >> BDC", b"EMC"),
    *(b"W n", b"200 Ts", b"<00410042D83DDE00> Tj", b"<D800> Tj", b"(\\012\\015\\034) Tj", b"(1.b.ii) '", b"/P gs"),
)

Damage = Callable[[bytes, Random], bytes]


def misbuilt(data: bytes, rng: Random) -> bytes:
    """The file with its structure changed in some places."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice(_DAMAGES)(data, rng)
    return data


def harmless(data: bytes, rng: Random) -> bytes:
    """Damage that readers get over, because everything that is needed to find the objects is still there."""
    return rng.choice(_HARMLESS)(data, rng)


def _put(pattern: re.Pattern[bytes], data: bytes, rng: Random, instead: tuple[bytes, ...]) -> bytes:
    places = list(pattern.finditer(data))
    if not places:
        return data
    chosen = rng.choice(places)
    return data[: chosen.start()] + rng.choice(instead) + data[chosen.end() :]


def _number(data: bytes, rng: Random) -> bytes:
    return _put(_NUMBER, data, rng, _NUMBERS)


def _name(data: bytes, rng: Random) -> bytes:
    return _put(_NAME, data, rng, (*_NAMES, *_NAME.findall(data)[:40]))


def _reference(data: bytes, rng: Random) -> bytes:
    found = tuple(_REFERENCE.findall(data))
    return _put(_REFERENCE, data, rng, found) if found else data


def _value(data: bytes, rng: Random) -> bytes:
    """Another value before the one that stands there, which becomes a key without a meaning."""
    places = list(_VALUE.finditer(data))
    if not places:
        return data
    at = rng.choice(places).end()
    return data[:at] + b" " + rng.choice(_VALUES) + b" /Z " + data[at:]


def _object(data: bytes, rng: Random) -> bytes:
    """One lost, one doubled, or two with each other's contents."""
    places = list(_OBJECT.finditer(data))
    if not places:
        return data
    one, other = rng.choice(places), rng.choice(places)
    match rng.randrange(3):
        case 0:
            return data[: one.start()] + data[one.end() :]
        case 1:
            return data[: other.start()] + one.group() + b"\n" + data[other.start() :]
    number, _, _ = one.group().partition(b"obj")
    _, _, body = other.group().partition(b"obj")
    return data[: one.start()] + number + b"obj" + body + data[one.end() :]


def _unpacked(data: bytes, rng: Random) -> bytes:
    """Damage within a packed stream, which is packed again, so that it reaches what is drawn, fonts and tables."""
    places = list(_PACKED.finditer(data))
    if not places:
        return data
    chosen = rng.choice(places)
    try:
        content = zlib.decompress(chosen.group(1))
    except zlib.error:
        return data
    content = damaged(content, rng, data) if rng.random() < 0.4 else _drawing(content, rng)
    return data[: chosen.start(1)] + zlib.compress(content) + data[chosen.end(1) :]


def _drawing(data: bytes, rng: Random) -> bytes:
    """A command between two others."""
    places = [place.start() for place in re.finditer(rb"\s", data)] or [0]
    at = rng.choice(places)
    return data[:at] + b"\n" + rng.choice(_DRAWING) * rng.choice((1, 1, 1, 40)) + b"\n" + data[at:]


_DAMAGES: tuple[Damage, ...] = (_number, _number, _name, _reference, _value, _object, _unpacked, _unpacked, _drawing)


def _end_lost(data: bytes, rng: Random) -> bytes:
    return data[: data.rindex(b"%%EOF")]


def _start_wrong(data: bytes, rng: Random) -> bytes:
    head, found, _ = data.rpartition(b"startxref")
    return (head if found else data) + b"startxref\n%d\n%%%%EOF\n" % rng.choice((0, 7, len(data), 10**12))


def _more_behind(data: bytes, rng: Random) -> bytes:
    return data + rng.randbytes(rng.choice((1, 80, 900)))


def _more_before(data: bytes, rng: Random) -> bytes:
    return rng.choice((b"\n", b"\xef\xbb\xbf", b"HTTP/1.1 200 OK\r\n\r\n", b"junk " * 100)) + data


def _table_wrong(data: bytes, rng: Random) -> bytes:
    """Every place in the table is off, as when line ends were changed on the way."""
    return re.sub(rb"(?m)^(\d{10}) 00000 n", lambda row: b"%010d 00000 n" % (int(row[1]) + 3), data)


_HARMLESS: tuple[Damage, ...] = (_end_lost, _start_wrong, _more_behind, _more_before, _table_wrong)
