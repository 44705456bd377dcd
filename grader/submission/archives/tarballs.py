"""A .tar.gz, read front to back; every header and byte is counted before it is taken apart or passed over.

Written by hand: Python's tarfile follows sparse maps and chains of headers to any length, hands global headers on to
every member, and before 3.11.10 searches extended headers in quadratic time, which nothing can bound from outside.
It reads what packing tools write: the formats ustar, pax and GNU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from grader.quoting import quote
from grader.submission.archives.gzipped import DAMAGED, MAX_PADDING_BYTES, Unpacked
from grader.submission.archives.members import Bounds, BrokenArchive, Content

_BLOCK = 512
_CHUNK = 1 << 20
_MAX_HEADER_BYTES = 1 << 20  # of a long name, or a file's extended attributes
_MAX_HEADERS = 16  # of one member: a long name, a long link, extended and global ones, each once
_RECORDS_EACH = 20  # in extended headers, on average: times, owner, name, some attributes

_FOLDER, _SPARSE = b"5", b"S"
_NO_FILES = b"123456"  # links, devices, folders, pipes; everything else, unknown kinds included, has content behind it
_LONG_NAME, _EXTENDED = b"L", b"xX"
_HEADERS = b"LKxXg"
_OCTAL = re.compile(rb"[0-7]{0,12}")
_DECIMAL = re.compile(rb"[0-9]{1,18}")
_RECORD = re.compile(rb"(\d{1,9}) ([^=\n]{1,256})=")
_END_OF_RECORDS = b"\0"


class _TarMember:
    def __init__(self, name: str, size: int, kind: bytes, stream: Unpacked) -> None:
        self.name = name
        self.size = size
        self.is_folder = kind == _FOLDER
        self.is_file = kind not in _NO_FILES
        self._left = size if self.is_file else 0
        self._stream = stream

    def open(self) -> Content:
        return self

    def read(self, size: int, /) -> bytes:
        wanted = min(size, self._left)
        data = self._stream.read(wanted)
        if len(data) < wanted:
            raise BrokenArchive(DAMAGED)
        self._left -= wanted
        return data

    def pass_over(self) -> None:
        if self.is_file:
            self._left += -self.size % _BLOCK
        while self.read(_CHUNK):
            pass


def members(path: Path, bounds: Bounds) -> Iterator[_TarMember]:
    with path.open("rb") as file:
        reading = _Reading(Unpacked(file), bounds)
        while (member := reading.next()) is not None:
            if not member.is_folder:
                yield member
            member.pass_over()
        reading.expect_nothing_more()


class _Reading:
    """One archive being read, with what has been seen of it so far."""

    def __init__(self, stream: Unpacked, bounds: Bounds) -> None:
        self._stream = stream
        self._bounds = bounds
        self._members = self._streamed_bytes = self._records = 0

    def next(self) -> _TarMember | None:
        """The next member, with what the headers before it say of it. None at the end."""
        said: dict[bytes, bytes] = {}
        for _ in range(_MAX_HEADERS):
            block = self._stream.read(_BLOCK)
            if not block.strip(b"\0"):
                if said or not (block or self._members):  # headers of nothing, or nothing at all
                    raise BrokenArchive(DAMAGED)
                return None
            self._check(block)
            kind, size = block[156:157], _number(block[124:136])
            if kind not in _HEADERS:
                return self._member(block, said)
            if size > _MAX_HEADER_BYTES:
                raise BrokenArchive("a header claims to be larger than any real one; make it again")
            self._will_read(_BLOCK + size)
            text = self._stream.read(size + -size % _BLOCK)[:size]
            if len(text) < size:
                raise BrokenArchive(DAMAGED)
            if kind == _LONG_NAME:
                said[b"path"] = text.partition(b"\0")[0]
            elif kind in _EXTENDED:
                said.update(self._parsed(text))
        raise BrokenArchive("a file has more headers than any tool writes; make it again")

    def _check(self, block: bytes) -> None:
        """A header's checksum counts its own place as blanks; some old tools add up signed bytes."""
        blanked = block[:148] + b" " * 8 + block[156:]
        off_by = sum(blanked) - _number(block[148:156])
        if len(block) < _BLOCK or (off_by and off_by != 256 * sum(byte > 127 for byte in blanked)):
            raise BrokenArchive(DAMAGED)

    def _member(self, block: bytes, said: dict[bytes, bytes]) -> _TarMember:
        self._members += 1
        if self._members > self._bounds.members:
            raise self._bounds.too_many()
        name, prefix = block[:100].partition(b"\0")[0], block[345:500].partition(b"\0")[0]
        if prefix and block[257:263] == b"ustar\0":  # GNU keeps other things there
            name = prefix + b"/" + name
        name = said.get(b"path", name)
        kind = block[156:157]
        if kind == b"\0" and name.endswith(b"/"):
            kind = _FOLDER
        shown = name.decode("utf-8", "surrogateescape")
        if kind == _SPARSE or any(key.startswith(b"GNU.sparse.") for key in said):
            raise BrokenArchive(f"'{quote(shown, 80)}' is stored as a sparse file; make it again without --sparse")
        size = _number(said[b"size"], _DECIMAL, 10) if b"size" in said else _number(block[124:136])
        member = _TarMember(shown, size, kind, self._stream)
        self._will_read(_BLOCK + (size if member.is_file else 0))
        return member

    def _parsed(self, text: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Records such as `19 path=src/work.py` with a line break; the number is the length of all of it."""
        at = 0
        while at < len(text) and text[at : at + 1] != _END_OF_RECORDS:
            self._records += 1
            found = _RECORD.match(text, at)
            end = at + int(found[1]) if found else 0
            if found is None or not found.end() < end <= len(text) or text[end - 1 : end] != b"\n":
                raise BrokenArchive(DAMAGED)
            if self._records > self._bounds.members * _RECORDS_EACH:
                raise BrokenArchive("its headers say more than those of any real one; make it again")
            yield found[2], text[found.end() : end - 1]
            at = end

    def _will_read(self, size: int) -> None:
        self._streamed_bytes += size
        if self._streamed_bytes > self._bounds.streamed_bytes:
            raise self._bounds.too_large()

    def expect_nothing_more(self) -> None:
        """Reading to the end lets gzip compare its checksum, and finds what would be lost behind a damaged header."""
        for _ in range(0, MAX_PADDING_BYTES, _CHUNK):
            rest = self._stream.read(_CHUNK)
            if not rest:
                return
            if rest.strip(b"\0"):
                raise BrokenArchive("it is damaged, and what follows the damage would be lost; make it again")
        raise BrokenArchive(f"more than {MAX_PADDING_BYTES >> 20} MiB of nothing follow its files; make it again")


def _number(field: bytes, digits: re.Pattern[bytes] = _OCTAL, base: int = 8) -> int:
    """Digits; or, for what is too large for eleven of them, a first bit and the number in binary."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:], "big")
    written = field.partition(b"\0")[0].strip()
    if not digits.fullmatch(written):
        raise BrokenArchive(DAMAGED)
    return int(written or b"0", base)
