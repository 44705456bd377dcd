"""The files in a .zip or .tar.gz, one by one, without trusting a word of what the archive says about itself.

The directory of a .zip is bounded before Python's zipfile takes it apart, and no two members share bytes.
"""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Protocol

ENDINGS = (".zip", ".tar.gz", ".tgz")

_ENTRY = b"PK\x01\x02"  # every entry of the directory begins with it
_ENTRY_BYTES = 400  # 46, a name and extra fields: more on average than any real archive has
_LOCAL_HEADER_BYTES = 30
_ENCRYPTED = 0x1
# zipfile unpacks whatever it reads of the other methods at once, and 4 KiB of bzip2 can be 80 MiB.
_UNPACKED_BIT_BY_BIT = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class BrokenArchive(Exception):
    """The archive claims what no real one would; the text says what, and what to do."""


@dataclass(frozen=True)
class Bounds:
    """What may be gone through in an archive, whether it is copied or not: skipping costs time too."""

    members: int  # files, folders, links
    streamed_bytes: int  # of what has to be unpacked to get past it

    def check(self, members: int, streamed_bytes: int = 0) -> None:
        if members > self.members:
            fix = "hand in only what the assignment asks for"
            raise BrokenArchive(f"it holds more than {self.members} files and folders; {fix}")
        if streamed_bytes > self.streamed_bytes:
            fix = "leave data, checkpoints and environments out"
            raise BrokenArchive(f"it unpacks to more than {self.streamed_bytes >> 20} MiB; {fix}")


class Content(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class Member:
    name: str
    size: int  # in bytes, as the archive says; its content is never longer
    is_file: bool  # neither a link nor a device nor a pipe
    open: Callable[[], Content]


def members(path: Path, bounds: Bounds) -> Iterator[Member]:
    """Every member that is not a folder, in order; each is counted, folders too, before anything of it is read.

    A member's content can be read until the next one is asked for. BrokenArchive is raised beyond the bounds; a damaged
    archive raises that or whatever the decoder raises.
    """
    from grader.submission import tarballs  # which takes what a member is from here

    return _zipped(path, bounds) if path.name.lower().endswith(".zip") else tarballs.members(path, bounds)


def _zipped(path: Path, bounds: Bounds) -> Iterator[Member]:
    with _Bounded(io.FileIO(path), bounds) as file, zipfile.ZipFile(file) as archive:
        listed = archive.infolist()
        _refuse_overlaps(listed)
        for info in listed:
            if not info.is_dir():
                is_file = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                yield Member(info.filename, info.file_size, is_file, partial(_content, archive, info))


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Content:
    if info.flag_bits & _ENCRYPTED:
        raise BrokenArchive("it is encrypted; make it again without a password")
    if info.compress_type not in _UNPACKED_BIT_BY_BIT:
        raise BrokenArchive("it is compressed in an unusual way; make it again as an ordinary .zip (method Deflate)")
    return archive.open(info)


def _refuse_overlaps(listed: list[zipfile.ZipInfo]) -> None:
    """Bytes that count for several members make a small archive unfold without end."""
    by_place = sorted(listed, key=lambda info: info.header_offset)
    for info, following in pairwise(by_place):
        if info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size > following.header_offset:
            raise BrokenArchive("its members overlap, which no packing tool does; make it again")


class _Bounded(io.BufferedReader):
    """A file that refuses to be read in large gulps: zipfile reads and takes apart the directory in a single one."""

    def __init__(self, raw: io.RawIOBase, bounds: Bounds) -> None:
        super().__init__(raw)
        self._bounds = bounds

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > max(1 << 20, self._bounds.members * _ENTRY_BYTES):
            raise BrokenArchive("its directory is larger than any real one; make the archive again")
        data = super().read(size)
        self._bounds.check(data.count(_ENTRY))
        return data
