"""A .tar.gz, read front to back; every header and byte is counted before it is read or skipped.

tarfile parses header blocks, and no more: left to itself it follows sparse maps and chains of headers to any length,
hands global headers on to every member, and before 3.11.10 searches extended headers in quadratic time.
"""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from grader.quoting import quote
from grader.submission.archives import Bounds, BrokenArchive, Content, Member

_BLOCK = 512
_PACKED_CHUNK = 1 << 16
_CHUNK = 1 << 20
_WITH_CHECKSUM = zlib.MAX_WBITS | 16  # 16: expects the header and the checksum of gzip, which zlib compares
_MAX_STREAMS = 10_000  # a .gz may be many joined together; some tools write one for each 64 KiB
_MAX_PADDING_BYTES = 16 << 20  # tools fill up to 10 KiB, or to what they are told to
_MAX_HEADER_BYTES = 1 << 20  # of a long name, or a file's extended attributes
_HEADER_BYTES_EACH = 320  # on average: times, owner, name, some attributes
_MAX_HEADERS = 16  # of one member: a long name, a long link, extended and global ones, each once

# Links, devices, folders, pipes; everything else, unknown kinds included, has content behind it.
_NO_FILES = (b"1", b"2", b"3", b"4", b"5", b"6")
_EXTENDED = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_HEADERS = (*_EXTENDED, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_RECORD = re.compile(rb"(\d{1,9}) ([^=\n]{1,256})=")
_DAMAGED = "it is damaged or cut short; make it again"


def members(path: Path, bounds: Bounds) -> Iterator[Member]:
    with path.open("rb") as file:
        tar = _Tar(file, bounds)
        while header := tar.next_member():
            is_file = header.type not in _NO_FILES
            content = _TarContent(tar, header.size if is_file else 0)
            if not header.isdir():
                yield Member(header.name, header.size, is_file, content.open)
            content.skip()
        tar.expect_nothing_more()


class _TarContent:
    def __init__(self, tar: _Tar, size: int) -> None:
        self._tar = tar
        self._left = size
        self._padding = -size % _BLOCK

    def open(self) -> Content:
        return self

    def read(self, size: int, /) -> bytes:
        data = self._tar.exactly(min(size, self._left))
        self._left -= len(data)
        return data

    def skip(self) -> None:
        self._left += self._padding
        while self.read(_CHUNK):
            pass


class _Tar:
    """An archive that is being read, and how much of it has been."""

    def __init__(self, file: IO[bytes], bounds: Bounds) -> None:
        self._unpacked = _unpacked(file)
        self._buffer = bytearray()
        self._bounds = bounds
        self._members = self._streamed_bytes = self._header_bytes = 0

    def next_member(self) -> tarfile.TarInfo | None:
        """The header of the next member, with what the headers before it say of it. None at the end."""
        extended: dict[bytes, bytes] = {}
        for _ in range(_MAX_HEADERS):
            block = self._read(_BLOCK)
            if not block.strip(b"\0"):
                if extended or not (block or self._members):  # headers of nothing, or nothing at all
                    raise BrokenArchive(_DAMAGED)
                return None
            header = _header(block)
            if header.type not in _HEADERS:
                return self._completed(header, extended)
            text = self._header_text(header.size)
            if header.type == tarfile.GNUTYPE_LONGNAME:
                extended[b"path"] = text.partition(b"\0")[0]
            elif header.type in _EXTENDED:
                extended.update(_records(text))
        raise BrokenArchive("a file has more headers than any tool writes; make it again")

    def _header_text(self, size: int) -> bytes:
        self._header_bytes += size
        in_all = max(16 * _MAX_HEADER_BYTES, self._bounds.members * _HEADER_BYTES_EACH)
        if size > _MAX_HEADER_BYTES or self._header_bytes > in_all:
            raise BrokenArchive("its headers are larger than any real ones; make it again")
        self._count(_BLOCK + size)
        return self.exactly(size + -size % _BLOCK)[:size]

    def _completed(self, header: tarfile.TarInfo, extended: dict[bytes, bytes]) -> tarfile.TarInfo:
        if b"path" in extended:
            header.name = extended[b"path"].decode("utf-8", "surrogateescape")
        if header.type == tarfile.GNUTYPE_SPARSE or any(key.startswith(b"GNU.sparse.") for key in extended):
            name = quote(header.name, 80)
            raise BrokenArchive(f"'{name}' is stored as a sparse file; make it again without --sparse")
        if not extended.get(b"size", b"0").isdigit():
            raise BrokenArchive(_DAMAGED)
        header.size = int(extended.get(b"size", header.size))
        self._members += 1
        self._count(_BLOCK + (header.size if header.type not in _NO_FILES else 0))
        return header

    def _count(self, size: int) -> None:
        self._streamed_bytes += size
        self._bounds.check(self._members, self._streamed_bytes)

    def _read(self, size: int) -> bytes:
        """So many bytes; fewer only at the end."""
        while len(self._buffer) < size and (piece := next(self._unpacked, b"")):
            self._buffer += piece
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def exactly(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) < size:
            raise BrokenArchive(_DAMAGED)
        return data

    def expect_nothing_more(self) -> None:
        """Reading to the end lets gzip compare its checksum, and finds what would be lost behind a damaged header."""
        for _ in range(0, _MAX_PADDING_BYTES, _CHUNK):
            rest = self._read(_CHUNK)
            if not rest:
                return
            if rest.strip(b"\0"):
                raise BrokenArchive("it is damaged, and what follows the damage would be lost; make it again")
        raise BrokenArchive(f"more than {_MAX_PADDING_BYTES >> 20} MiB of nothing follow its files; make it again")


def _header(block: bytes) -> tarfile.TarInfo:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        raise BrokenArchive(_DAMAGED) from None
    if header.size < 0:
        raise BrokenArchive(_DAMAGED)
    if not block.startswith(b"ustar\0", 257):  # GNU keeps other things where others keep the beginning of a long path
        header.name = block[:100].partition(b"\0")[0].decode("utf-8", "surrogateescape")
    return header


def _records(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Such as `19 path=src/work.py` with a line break; the number is the length of all of it."""
    at = 0
    while at < len(text) and text[at : at + 1] != b"\0":
        found = _RECORD.match(text, at)
        end = at + int(found[1]) if found else 0
        if found is None or not found.end() < end <= len(text) or text[end - 1 : end] != b"\n":
            raise BrokenArchive(_DAMAGED)
        yield found[2], text[found.end() : end - 1]
        at = end


def _unpacked(file: IO[bytes]) -> Iterator[bytes]:
    """What is in a .gz, in small pieces; zlib notices damage."""
    packed = file.read(_PACKED_CHUNK)
    for _ in range(_MAX_STREAMS):
        stream = zlib.decompressobj(_WITH_CHECKSUM)
        while not stream.eof:
            packed = packed or file.read(_PACKED_CHUNK)
            piece = stream.decompress(packed, _PACKED_CHUNK)
            if not (packed or piece or stream.eof):
                raise BrokenArchive(_DAMAGED)
            packed = stream.unconsumed_tail
            if piece:
                yield piece
        packed, padding = stream.unused_data, 0
        while not packed.strip(b"\0"):
            padding += len(packed)
            packed = file.read(_PACKED_CHUNK)
            if not packed:
                return
            if padding > _MAX_PADDING_BYTES:
                raise BrokenArchive(_DAMAGED)
        packed = packed.lstrip(b"\0")
    raise BrokenArchive(f"it is more than {_MAX_STREAMS} archives joined together; make it again")
