"""The files in a .zip or .tar.gz, one by one, without trusting a word of what the archive says about itself."""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

ENDINGS = (".zip", ".tar.gz", ".tgz")

# tarfile reads a file's extended header in one piece, however large the archive says it is.
_MAX_READ_BYTES = 4 * 2**20


class BrokenArchive(Exception):
    """The archive claims what no real one would; the text says what."""


@dataclass(frozen=True)
class Member:
    name: str
    content: IO[bytes] | None  # None: a link, a device, a pipe


def members(path: Path) -> Iterator[Member]:
    """Every member that is not a folder, in order. Reading a damaged one raises whatever the decoder raises."""
    return _zip_members(path) if path.name.lower().endswith(".zip") else _tar_members(path)


def _zip_members(path: Path) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG):
                yield Member(member.filename, None)
                continue
            with archive.open(member) as content:
                yield Member(member.filename, content)


def _tar_members(path: Path) -> Iterator[Member]:
    with gzip.open(path) as stream, tarfile.open(fileobj=cast(Any, _Sipping(stream)), mode="r:") as archive:
        for member in archive:
            if not member.isdir():
                yield Member(member.name, archive.extractfile(member) if member.isreg() else None)
        stream.seek(archive.offset)
        while rest := stream.read(1 << 20):  # to the end, so that gzip compares its checksum
            if rest.strip(b"\0"):  # tarfile takes a damaged header for the end
                raise BrokenArchive("it is damaged, and what follows the damage would be lost")


class _Sipping:
    """A stream that refuses to be read in large gulps."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MAX_READ_BYTES:
            raise BrokenArchive("a header claims to be larger than any real one")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()
