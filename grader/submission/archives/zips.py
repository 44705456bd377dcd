"""A .zip: its directory is bounded before Python's zipfile takes it apart, and no two members share bytes."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from grader.submission.archives.members import Bounds, BrokenArchive, Content

_ENTRY = b"PK\x01\x02"  # every entry of the directory begins with it
_ENTRY_BYTES = 400  # 46, a name and extra fields: more on average than any real archive has
_LOCAL_HEADER_BYTES = 30
_ENCRYPTED = 0x1
# zipfile unpacks whatever it reads of the other methods at once, and 4 KiB of bzip2 can be 80 MiB.
_UNPACKED_BIT_BY_BIT = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_SIP_BYTES = 4096


@dataclass(frozen=True)
class _ZipMember:
    archive: zipfile.ZipFile
    info: zipfile.ZipInfo

    @property
    def name(self) -> str:
        return self.info.filename

    @property
    def size(self) -> int:
        return self.info.file_size

    @property
    def is_file(self) -> bool:
        return stat.S_IFMT(self.info.external_attr >> 16) in (0, stat.S_IFREG)

    def open(self) -> Content:
        if self.info.flag_bits & _ENCRYPTED:
            raise BrokenArchive("it is encrypted; make it again without a password")
        content = self.archive.open(self.info)
        return content if self.info.compress_type in _UNPACKED_BIT_BY_BIT else _Sips(content)


@dataclass(frozen=True)
class _Sips:
    content: Content

    def read(self, size: int, /) -> bytes:
        return self.content.read(min(size, _SIP_BYTES))


def members(path: Path, bounds: Bounds) -> Iterator[_ZipMember]:
    with _Bounded(io.FileIO(path), bounds) as file, zipfile.ZipFile(file) as archive:
        listed = archive.infolist()
        _refuse_overlaps(listed)
        for info in listed:
            if not info.is_dir():
                yield _ZipMember(archive, info)


def _refuse_overlaps(listed: list[zipfile.ZipInfo]) -> None:
    """Bytes that count for several members make a small archive unfold without end."""
    by_place = sorted(listed, key=lambda info: info.header_offset)
    for one, following in pairwise(by_place):
        if one.header_offset + _LOCAL_HEADER_BYTES + one.compress_size > following.header_offset:
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
        if data.count(_ENTRY) > self._bounds.members:
            raise self._bounds.too_many()
        return data
