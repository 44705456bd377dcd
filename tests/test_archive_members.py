"""Archives read member by member: damage is told wherever it sits, and what real tools write is read."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.submission.archives import Bounds, BrokenArchive, members
from tests.hostile_archives import header, many

BOUNDS = Bounds(members=10, streamed_bytes=1 << 20)
END = bytes(1024)


def read(path: Path, packed: bytes, bounds: Bounds = BOUNDS) -> dict[str, bytes]:
    path.write_bytes(packed)
    return {one.name: one.open().read(1 << 20) for one in members(path, bounds) if one.is_file}


def with_checksum(block: bytes, extra: int = 0) -> bytes:
    total = sum(block[:148]) + 8 * 32 + sum(block[156:]) + extra
    return block[:148] + b"%06o\0 " % total + block[156:]


def changed(at: int, field: bytes) -> bytes:
    """The header of an empty file with these bytes in it, and a checksum that fits."""
    block = header("a.py")
    return with_checksum(block[:at] + field + block[at + len(field) :])


def pax(records: bytes) -> bytes:
    return header("pax", len(records), b"x") + records + bytes(-len(records) % 512)


FILE = header("a.py", 3) + b"x=1" + bytes(509)
DAMAGED: dict[str, bytes] = {
    "nothing": b"",
    "a name with another letter": b"b" + FILE[1:] + END,
    "half a header": FILE[:300],
    "half a header later": FILE + FILE[:300],
    "content cut short": FILE[:513],
    "content cut to whole letters, not blocks": FILE[:515],
    "a checksum in letters": FILE[:148] + b"abcdef\0 " + FILE[156:] + END,
    "a size in letters": changed(124, b"0000000000x\0") + END,
    "a long name of nobody": header("n", 3, b"L") + b"abc" + bytes(509) + END,
    "a long name cut short": header("n", 600, b"L") + bytes(512),
    "a record that ends too early": pax(b"8 path=b.py\n") + FILE + END,
    "a record that ends in its name": pax(b"7 path=b.py\n") + FILE + END,
    "a record that never ends": pax(b"99 path=b.py\n") + FILE + END,
    "a record without a line break": pax(b"11 path=b.py") + FILE + END,
    "a record without a value": pax(b"11 path b.p\n") + FILE + END,
    "a record without a length": pax(b"path=b.py\n") + FILE + END,
    "a size that is none": pax(b"10 size=x\n") + FILE + END,
    "more behind the end": FILE + END + FILE,
    "one letter behind the end": FILE + END + b"x",
}


@pytest.mark.parametrize("tar", DAMAGED.values(), ids=list(DAMAGED))
def test_a_damaged_tarball_is_refused(tmp_path: Path, tar: bytes) -> None:
    assert read(tmp_path / "a.tar.gz", gzip.compress(FILE + END)) == {"a.py": b"x=1"}
    with pytest.raises(BrokenArchive, match=r"it is damaged.*make it again"):
        read(tmp_path / "a.tar.gz", gzip.compress(tar))


def test_a_gzip_cut_short_or_with_another_checksum_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(FILE + END)
    for kept in (len(whole) - 1, len(whole) - 8, len(whole) - 20, 5):
        with pytest.raises(BrokenArchive, match="it is damaged or cut short"):
            read(tmp_path / "a.tar.gz", whole[:kept])
    for at in (len(whole) - 1, len(whole) - 8):  # the length, the checksum
        with pytest.raises(zlib.error, match="incorrect"):
            read(tmp_path / "a.tar.gz", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])


def _binary_size() -> bytes:
    return changed(124, b"\x80" + (3).to_bytes(11, "big")) + b"x=1" + bytes(509)


def _signed_checksum() -> bytes:
    name = "ü.py".encode()
    block = header("a.py", 3)
    return with_checksum(name + block[len(name) :], -256 * 2) + b"x=1" + bytes(509)


def _gnu_prefix() -> bytes:
    """GNU keeps times where others keep the beginning of a long path."""
    block = header("a.py", 3)
    return with_checksum(block[:257] + b"ustar  \0" + block[265:345] + b"1234" + block[349:]) + b"x=1" + bytes(509)


READ: dict[str, tuple[bytes, str]] = {
    "a size in binary": (_binary_size(), "a.py"),
    "old tools add up signed bytes": (_signed_checksum(), "ü.py"),
    "a checksum that ends in blanks": (FILE[:154] + b"  " + FILE[156:], "a.py"),
    "a long name": (header("n", 5, b"L") + b"b.py\0" + bytes(507) + FILE, "b.py"),
    "a long link is none": (header("n", 5, b"K") + b"b.py\0" + bytes(507) + FILE, "a.py"),
    "an extended name": (pax(b"13 path=b.py\n") + FILE, "b.py"),
    "an extended size": (pax(b"10 size=3\n") + header("a.py", 0) + b"x=1" + bytes(509), "a.py"),
    "records that end early": (pax(b"13 path=b.py\n\0\0\0") + FILE, "b.py"),
    "a global header is nobody's": (
        header("pax", 13, b"g") + b"13 path=b.py\n" + bytes(499) + FILE,
        "a.py",
    ),
    "a folder by its slash": (with_checksum(header("d/")[:156] + b"\0" + header("d/")[157:]) + FILE, "a.py"),
    "a link has no content": (header("l", 3, b"2") + FILE, "a.py"),
    "the beginning of a long path": (with_checksum(FILE[:345] + b"src" + FILE[348:512]) + FILE[512:], "src/a.py"),
    "other things in its place": (_gnu_prefix(), "a.py"),
}


@pytest.mark.parametrize(("tar", "name"), READ.values(), ids=list(READ))
def test_what_tools_write_is_read(tmp_path: Path, tar: bytes, name: str) -> None:
    assert read(tmp_path / "a.tar.gz", gzip.compress(tar + END)) == {name: b"x=1"}
    assert read(tmp_path / "a.tar.gz", gzip.compress(tar)) == {name: b"x=1"}, "some tools forget the end"


def test_content_of_every_length_is_followed_by_the_next_file(tmp_path: Path) -> None:
    for size in (0, 1, 511, 512, 513, 1024):
        content = b"y" * size
        tar = header("first", size) + content + bytes(-size % 512) + FILE
        assert read(tmp_path / "a.tar.gz", gzip.compress(tar + END)) == {"first": content, "a.py": b"x=1"}
        tar_unread = header("__first", size, b"0") + content + bytes(-size % 512) + FILE
        (tmp_path / "b.tgz").write_bytes(gzip.compress(tar_unread + END))
        assert [one.name for one in members(tmp_path / "b.tgz", BOUNDS)] == ["__first", "a.py"]


def _tar(count: int, size: int) -> bytes:
    return gzip.compress(b"".join(header(f"{one}", size) + bytes(size) for one in range(count)) + END)


def _zip(count: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for one in range(count):
            archive.writestr(f"{one}", "x")
    return packed.getvalue()


@pytest.mark.parametrize(("name", "make"), [("a.tar.gz", lambda count: _tar(count, 0)), ("a.ZIP", _zip)])
def test_as_many_members_as_may_be_are_read_and_not_one_more(
    tmp_path: Path, name: str, make: Callable[[int], bytes]
) -> None:
    assert len(read(tmp_path / name, make(10))) == 10
    with pytest.raises(BrokenArchive, match="more than 10 files and folders"):
        read(tmp_path / name, make(11))


def test_as_many_bytes_as_may_be_are_unpacked_and_not_one_more(tmp_path: Path) -> None:
    packed = _tar(2, 512)
    assert len(read(tmp_path / "a.tgz", packed, Bounds(members=2, streamed_bytes=2048))) == 2
    with pytest.raises(BrokenArchive, match="unpacks to more than 0 MiB"):
        read(tmp_path / "a.tgz", packed, Bounds(members=2, streamed_bytes=2047))
    named = gzip.compress(header("n", 512, b"K") + bytes(512) + FILE + END)  # a header's own bytes count too
    assert read(tmp_path / "a.tgz", named, Bounds(members=1, streamed_bytes=1024 + 515))
    with pytest.raises(BrokenArchive, match="unpacks to more than 0 MiB"):
        read(tmp_path / "a.tgz", named, Bounds(members=1, streamed_bytes=1024 + 514))


def test_ten_thousand_streams_may_be_joined_and_not_one_more(tmp_path: Path) -> None:
    nothing, whole = gzip.compress(b""), gzip.compress(FILE + END)
    assert read(tmp_path / "a.tgz", nothing * 9_999 + whole) == {"a.py": b"x=1"}
    with pytest.raises(BrokenArchive, match="more than 10000 archives joined together"):
        read(tmp_path / "a.tgz", nothing * 10_000 + whole)


def test_members_of_a_zip_lie_side_by_side_and_links_are_no_files(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "a.py")
        archive.writestr("d/", "")
        archive.writestr("a.py", "x=1")
        archive.comment = b"made by a tool that says so"
    whole = packed.getvalue()
    assert read(tmp_path / "a.zip", whole) == {"a.py": b"x=1"}
    entries = [at for at in range(len(whole)) if whole.startswith(b"PK\1\2", at)]
    starts = [struct.unpack("<L", whole[at + 42 : at + 46])[0] for at in entries]
    overlapping = bytearray(whole)
    overlapping[entries[2] + 42 : entries[2] + 46] = struct.pack("<L", starts[1] + 5)  # inside the second one's header
    with pytest.raises(BrokenArchive, match="its members overlap"):
        read(tmp_path / "a.zip", bytes(overlapping))


def test_a_sparse_file_is_named_and_refused(tmp_path: Path) -> None:
    for tar in (header("holes", 0, b"S"), pax(b"22 GNU.sparse.major=1\n") + header("holes", 0)):
        with pytest.raises(BrokenArchive, match=r"'holes' is stored as a sparse file; make it again without --sparse"):
            read(tmp_path / "a.tar.gz", gzip.compress(tar + END))


def test_a_long_directory_of_a_zip_is_read_where_so_many_members_may_be(tmp_path: Path) -> None:
    packed = many(f"{'long' * 90}/{number}" for number in range(3_000))  # more than a megabyte of names
    assert len(read(tmp_path / "a.zip", packed, Bounds(members=4_000, streamed_bytes=0))) == 3_000
    with pytest.raises(BrokenArchive, match="its directory is larger than any real one"):
        read(tmp_path / "a.zip", packed, Bounds(members=3_000, streamed_bytes=0))


def test_a_file_may_have_fifteen_headers_before_its_own_and_not_more(tmp_path: Path) -> None:
    link = header("n", 0, b"K")
    assert read(tmp_path / "a.tgz", gzip.compress(link * 15 + FILE + END)) == {"a.py": b"x=1"}
    with pytest.raises(BrokenArchive, match="more headers than any tool writes"):
        read(tmp_path / "a.tgz", gzip.compress(link * 16 + FILE + END))


def test_headers_are_read_up_to_a_mebibyte_each_and_16_in_all(tmp_path: Path) -> None:
    room, name = Bounds(members=20, streamed_bytes=64 << 20), bytes(1 << 20)
    assert read(tmp_path / "a.tgz", gzip.compress(header("n", 1 << 20, b"K") + name + FILE + END), room)
    largest = header("n", 1 << 20, b"K") + name
    for headers in (header("n", (1 << 20) + 1, b"K") + name + bytes(512), (largest * 9 + FILE) * 2):
        with pytest.raises(BrokenArchive, match="its headers are larger than any real ones"):
            read(tmp_path / "a.tgz", gzip.compress(headers + FILE + END, 1), room)
    assert read(tmp_path / "a.tgz", gzip.compress((largest * 8 + FILE) * 2 + END, 1), room)
