"""Archives with members nobody would pack, damaged in their headers and their bytes, opened as submissions."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.fuzz import material, notebook_files
from benchmarks.fuzz.answer_sheets import YAML
from benchmarks.fuzz.bytewise import damaged
from benchmarks.fuzz.endings import ends_well, looked_through

Archive = tuple[str, bytes]  # its ending, its content

_ODD_NAMES = (
    *("../x.py", "/etc/x.py", "a/../../x.py", "..\\x.py", "C:/x.py", ".", "..", "", "/", "//", "a//b.py"),
    *("./attention.py", "a\0b.py", "a\nb.py", "\u202eyp.x", "x" * 300, "x" * 240 + ".ipynb", "a/" * 40 + "x"),
    *("é" * 200, "CON", "a:b", " ", "a/ /b", "attention.py", "attention.py/x.py", "answers.md", "answers.md/x"),
    *("hw3.ipynb", "hw3.ipynb/x.py", "hw3.ipynb#answers.md", "hw3.ipynb#attention.py/x", "submission.yaml"),
    *("env/pyvenv.cfg", "pyvenv.cfg", "__MACOSX/._x", "node_modules/x.js"),
)
_ZIP_HEADERS = ((b"PK\x01\x02", 46), (b"PK\x03\x04", 30), (b"PK\x05\x06", 22))
_METHODS = (zipfile.ZIP_STORED, *[zipfile.ZIP_DEFLATED] * 7, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_TAR_FIELDS = (
    *(slice(0, 100), slice(100, 108), slice(108, 116), slice(124, 136), slice(136, 148), slice(156, 157)),
    *(
        slice(157, 257),
        slice(257, 265),
        slice(265, 297),
        slice(329, 337),
        slice(345, 500),
        slice(386, 410),
        slice(482, 495),
    ),
)
_TAR_KINDS = b"0123456789LKxgSXVNDMA\0\xff"
_PAX = {
    "path": ("", "\n", "../x", "x" * 5_000),
    "size": ("-1", "x", "99999999999999999999", "1e3", ""),
    "mtime": ("nan", "inf", "-1e400"),
    "GNU.sparse.map": ("0,1", "x", "0,-1", ",".join("1" * 500)),
    "GNU.sparse.size": ("-1", "1" * 5_000),
    "GNU.sparse.major": ("1", "x"),
    "GNU.sparse.name": ("", "x.py"),
    "hdrcharset": ("BINARY", "none"),
}


@dataclass
class _Member:
    name: str
    content: bytes
    kind: int = stat.S_IFREG


def make(rng: Random) -> Archive:
    members = [_Member(name, content) for name, content in rng.choice(material.works()).items()]
    by_bytes = rng.random() < 0.4
    if not by_bytes or rng.random() < 0.3:
        for _ in range(rng.choice((1, 1, 2, 5))):
            _change(members, rng)
    ending, pack = rng.choice(((".zip", _zipped), (".tar.gz", _tarred)))
    content = pack(members, rng)
    return ending, damaged(content, rng, content) if by_bytes else content


def _change(members: list[_Member], rng: Random) -> None:
    member = rng.choice(members)
    match rng.randrange(7):
        case 0:
            member.name = rng.choice(_ODD_NAMES)
        case 1:
            member.name = rng.choice(("a/", "../", "/", "./", "\\", "hw3.ipynb/", "ä/")) + member.name
        case 2:
            member.kind = rng.choice((stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK))
        case 3:
            member.content = damaged(member.content, rng, rng.choice(members).content)
        case 4:
            members.append(_Member(rng.choice((member.name, *_ODD_NAMES)), member.content))
        case 5:
            members.append(_Member(rng.choice(("hw3.ipynb", "a/b.ipynb")), notebook_files.make(rng)))
        case 6:
            text = "\n".join(rng.choice(YAML) for _ in range(3))
            members[:] = [other for other in members if other.name != "submission.yaml"]
            members.append(_Member("submission.yaml", text.encode("utf-8", "surrogatepass")))


def _zipped(members: list[_Member], rng: Random) -> bytes:
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w", rng.choice(_METHODS)) as archive:
        warnings.simplefilter("ignore")  # names that are there twice
        for member in members:
            info = zipfile.ZipInfo("x")
            info.filename = member.name
            info.external_attr = (member.kind | 0o644) << 16
            info.compress_type = archive.compression
            archive.writestr(info, member.content)
    return _spoil(packed.getvalue(), rng, _spoil_zip)


def _spoil(content: bytes, rng: Random, spoil: Callable[[bytearray, Random], None]) -> bytes:
    """With fields of its headers that say what is not so, half of the time."""
    spoilt = bytearray(content)
    for _ in range(rng.choice((0, 0, 1, 2))):
        spoil(spoilt, rng)
    return bytes(spoilt)


def _spoil_zip(content: bytearray, rng: Random) -> None:
    signature, length = rng.choice(_ZIP_HEADERS)
    places = [at for at in range(len(content)) if content.startswith(signature, at)]
    if places:
        at, size = rng.choice(places) + rng.randrange(4, length, 2), rng.choice((2, 4))
        content[at : at + size] = rng.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\1\0\0\0", rng.randbytes(4)))[:size]


def _tarred(members: list[_Member], rng: Random) -> bytes:
    kinds = {stat.S_IFLNK: tarfile.SYMTYPE, stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFIFO: tarfile.FIFOTYPE}
    packed = io.BytesIO()
    form = rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(fileobj=packed, mode="w:", format=form, errors="surrogateescape") as archive:
        for member in members:
            info = tarfile.TarInfo(member.name)
            info.type = kinds.get(member.kind, tarfile.REGTYPE if member.kind == stat.S_IFREG else tarfile.CHRTYPE)
            info.size = len(member.content) if info.isreg() else 0
            if form == tarfile.PAX_FORMAT and rng.random() < 0.2:
                key = rng.choice(list(_PAX))
                info.pax_headers = {key: rng.choice(_PAX[key])}
            if form == tarfile.USTAR_FORMAT:  # which has no room for longer ones
                info.name = info.name[-40:]
            archive.addfile(info, io.BytesIO(member.content))
    return gzip.compress(_spoil(packed.getvalue(), rng, _spoil_tar), compresslevel=1, mtime=0)


def _spoil_tar(content: bytearray, rng: Random) -> None:
    """One field of one header; its checksum says that all is well, or it would be the end of the archive."""
    places = [at for at in range(0, len(content), 512) if content[at + 257 : at + 262] == b"ustar"]
    if not places:
        return
    at, chosen = rng.choice(places), rng.choice(_TAR_FIELDS)
    header = content[at : at + 512]
    length = chosen.stop - chosen.start
    odd = (
        b"\0",
        b"\xff" * length,
        b"\x80" + b"\xff" * length,
        b"7" * length,
        b"-1",
        b" ",
        b"x" * length,
        rng.randbytes(length),
    )
    value = rng.choice(odd) if length > 1 else bytes([rng.choice(_TAR_KINDS)])
    header[chosen] = value[:length].ljust(length, b"\0")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    content[at : at + 512] = header


def read(archive: Archive, folder: Path) -> bool:
    ending, content = archive
    path = folder / f"hw{ending}"
    path.write_bytes(content)
    return ends_well(lambda: looked_through(path))
