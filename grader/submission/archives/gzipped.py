"""The bytes of a .gz, unpacked piece by piece; damage is noticed, and nothing in it makes a piece cost more."""

from __future__ import annotations

import zlib
from typing import IO

from grader.submission.archives.members import BrokenArchive

_CHUNK = 1 << 16
_WITH_CHECKSUM = zlib.MAX_WBITS | 16  # 16: expects the header and the checksum of gzip, which zlib compares
_MAX_STREAMS = 10_000  # a .gz may be many joined together; some tools write one for each 64 KiB
MAX_PADDING_BYTES = 16 << 20  # tools fill up to 10 KiB, or to what they are told to
DAMAGED = "it is damaged or cut short; make it again"


class Unpacked:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._packed = b""
        self._inflating = zlib.decompressobj(_WITH_CHECKSUM)
        self._streams = 1

    def read(self, size: int) -> bytes:
        """So many bytes; fewer only at the end."""
        pieces = []
        while size and (piece := self._piece(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _piece(self, most: int) -> bytes:
        while not self._inflating.eof or self._next_stream():
            packed = self._packed or self._file.read(_CHUNK)
            piece = self._inflating.decompress(packed, most)
            self._packed = self._inflating.unconsumed_tail
            if piece:
                return piece
            if not packed and not self._inflating.eof:
                raise BrokenArchive(DAMAGED)
        return b""

    def _next_stream(self) -> bool:
        """Begin with the stream that follows, if one does."""
        padding, self._packed = 0, self._inflating.unused_data or self._file.read(_CHUNK)
        while self._packed and not (begun := self._packed.lstrip(b"\0")):
            padding += len(self._packed)
            if padding > MAX_PADDING_BYTES:
                raise BrokenArchive(DAMAGED)
            self._packed = self._file.read(_CHUNK)
        if not self._packed:
            return False
        self._streams += 1
        if self._streams > _MAX_STREAMS:
            raise BrokenArchive(f"it is more than {_MAX_STREAMS} archives joined together; make it again")
        self._packed, self._inflating = begun, zlib.decompressobj(_WITH_CHECKSUM)
        return True
