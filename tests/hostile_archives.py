"""Archives that nobody packs by accident, made byte by byte: small to send, endless to open."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zlib
from collections.abc import Callable, Iterable

# Zip: (name, packed bytes, size, checksum) and where the local header begins


_Local = tuple[bytes, int, int, int]


def _local_header(name: bytes, packed: int, size: int, crc: int) -> bytes:
    fields = (b"PK\3\4", 20, 0x800, 8 if packed else 0, 0, 0, crc, packed, size, len(name), 0)
    return struct.pack("<4s5H3L2H", *fields) + name


def _zip(content: bytes, listed: Iterable[tuple[_Local, int]]) -> bytes:
    directory = bytearray()
    for (name, packed, size, crc), offset in listed:
        method = 8 if packed else 0
        fields = (b"PK\1\2", 20, 20, 0x800, method, 0, 0, crc, packed, size, len(name), 0, 0, 0, 0, 0, offset)
        directory += struct.pack("<4s6H3L5H2L", *fields) + name
    return content + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0, 0, len(directory), len(content), 0)


def many(names: Iterable[str], packed: bytes = b"", size: int = 0) -> bytes:
    content, listed = bytearray(), []
    for name in names:
        local = (name.encode(), len(packed), size, 0)
        listed.append((local, len(content)))
        content += _local_header(*local) + packed
    return _zip(bytes(content), listed)


def quoted() -> bytes:
    """Each file's data begin with the next one's header, in a block stored as it is, and go on with the next's data.

    So 2 KB of zeros count a hundred times, under a hundred names.
    """
    plain = bytes(2 << 20)
    data = zlib.compress(plain, 9, wbits=-15)
    front, listed, following = b"", [], b""
    for number in reversed(range(100)):
        if following:
            data = struct.pack("<BHH", 0, len(following), len(following) ^ 0xFFFF) + following + data
            plain = following + plain
        local = (b"%04d.txt" % number, len(data), len(plain), zlib.crc32(plain))
        following = _local_header(*local)
        listed.append((local, len(data)))
    front = following + data
    return _zip(front, [(local, len(front) - from_end - len(_local_header(*local))) for local, from_end in listed])


# Tar


def header(name: str, size: int = 0, kind: bytes = b"0") -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.USTAR_FORMAT)


def _zeros(mebibytes: int) -> bytes:
    """Compressed: streams of 16 MiB each, joined."""
    return gzip.compress(bytes(16 << 20), 6) * (mebibytes // 16)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def _pax(records: bytes, kind: bytes = b"x") -> bytes:
    return header("pax", len(records), kind) + _padded(records)


def _sparse() -> bytes:
    """A map of where the data lie that goes on from block to block."""
    first = bytearray(header("holes.bin", 0, b"S"))
    first[482] = 1
    first[148:156] = b"%06o\0 " % (sum(first[:148]) + 8 * 32 + sum(first[156:]))
    more = b"00000000001\0" * 42 + b"\1" + bytes(7)
    return bytes(first) + more * 200_000


def _ends_with(data: bytes) -> bytes:
    return gzip.compress(data + bytes(1024), 1)


HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "zip of folders": (".zip", lambda: many(f"{number:x}/" for number in range(60_000))),
    "zip of litter": (".zip", lambda: many(f"__MACOSX/{number:x}" for number in range(60_000))),
    "zip of long names": (".zip", lambda: many("x" * 60_000 + str(number) for number in range(200))),
    "zip whose members quote each other": (".zip", quoted),
    "zip that claims a terabyte": (".zip", lambda: many(map(str, range(256)), b"\3\0", 0xFFFFFFFE)),
    "tar of folders": (".tar.gz", lambda: _ends_with(header("d", 0, b"5") * 60_000)),
    "tar of links in litter": (".tar.gz", lambda: _ends_with(header("__MACOSX/l", 0, b"2") * 60_000)),
    "tar of litter without end": (".tar.gz", lambda: gzip.compress(header("__MACOSX/z", 7 << 30)) + _zeros(7 << 10)),
    "tar with a long name": (".tar.gz", lambda: _ends_with(header("n", 8 << 20, b"L") + b"x" * (8 << 20))),
    "tar with many headers for nothing": (".tar.gz", lambda: _ends_with(header("n", 0, b"L") * 20_000 + header("a"))),
    "tar with a large extended header": (".tar.gz", lambda: _ends_with(_pax(b"8388608 comment=" + b"x" * (8 << 20)))),
    "tar with digits to search": (".tar.gz", lambda: _ends_with(_pax(b"1" * (1 << 20)) + header("a"))),
    "tar with global headers": (
        ".tar.gz",
        lambda: _ends_with(
            b"".join(_pax(b"".join(b"11 %04x=xx\n" % k for k in range(9_000)), b"g") for _ in range(20))
        ),
    ),
    "tar with records without end": (
        ".tar.gz",
        lambda: _ends_with((_pax(b"6 a=b\n" * 170_000) + header("__MACOSX/a")) * 20),
    ),
    "tar with a sparse map without end": (".tar.gz", lambda: _ends_with(_sparse())),
    "gzip of zeros": (".tar.gz", lambda: _zeros(7 << 10)),
    "zeros after the end": (".tar.gz", lambda: gzip.compress(header("a") + bytes(1024)) + _zeros(7 << 10)),
    "a hundred thousand streams of nothing": (
        ".tar.gz",
        lambda: gzip.compress(b"") * 100_000 + _ends_with(header("a")),
    ),
    "tar cut short": (".tar.gz", lambda: gzip.compress(header("a.py", 5_000) + b"x" * 700)),
    "tar with a negative size": (".tar.gz", lambda: _ends_with(_with_size(b"\xff" * 12))),
    "tar of almost all numbers": (".tar.gz", lambda: _ends_with(_with_size(b"\x80" + b"\xff" * 11))),
}


def _with_size(field: bytes) -> bytes:
    block = bytearray(header("a.py"))
    block[124:136] = field
    block[148:156] = b"%06o\0 " % (sum(block[:148]) + 8 * 32 + sum(block[156:]))
    return bytes(block)


def honest_tar(files: dict[str, bytes], format: int) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=format) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), 1_700_000_000.25  # which pax keeps in a header of its own
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()
