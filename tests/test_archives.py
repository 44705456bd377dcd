"""Archives and folders made to hold the grader up are refused in one line; what students pack by accident opens."""

from __future__ import annotations

import gzip
import os
import socket
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from grader.errors import UsageError
from grader.submission.opening import open_submission
from tests.conftest import sampled
from tests.hostile_archives import HOSTILE, header, honest_tar

# Read beyond what was to be counted first, each of these takes minutes or gigabytes, and the test would not end.


@pytest.mark.parametrize(("ending", "make"), sampled(HOSTILE.values(), 9), ids=list(HOSTILE))
def test_what_would_unfold_without_end_is_refused_in_one_line(tmp_path: Path, ending: str, make: Any) -> None:
    path = tmp_path / f"mallory{ending}"
    path.write_bytes(make())
    assert path.stat().st_size < 32 << 20
    with pytest.raises(UsageError) as refused, open_submission(path):
        pass
    (line,) = str(refused.value).splitlines()
    assert line.startswith(str(path))
    assert any(
        fix in line for fix in ("make it again", "make the archive again", "hand in only", "leave data", "rename it")
    ), line


ACCIDENTS = {
    "hw/attention.py": b"x = 1\n",
    "hw/" + "long/" * 20 + "notes.txt": b"a path longer than a hundred characters\n",
    "hw/Gr\u00fc\u00dfe.md": b"a name outside ASCII\n",
    "__MACOSX/hw/._attention.py": b"\0\5\x16\7",
    "hw/.git/objects/ab/cdef": b"x" * 4096,
    "hw/.venv/lib/python3.11/site-packages/torch/nn.py": b"not the student's",
    "hw/.venv/bin/attention.py": b"not the student's",
    "hw/.venv/pyvenv.cfg": b"home = /usr/bin\n",  # after what it marks, as tools may write it
} | {f"hw/node_modules/left-pad/{number}.js": b"" for number in range(5_500)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zip", "gnu tar", "pax tar"])
def test_what_is_packed_by_accident_is_passed_over(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("alice.zip" if kind == "zip" else "alice.tar.gz")
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in ACCIDENTS.items():
                archive.writestr(name, content)
    else:
        path.write_bytes(honest_tar(ACCIDENTS, tarfile.PAX_FORMAT if kind == "pax tar" else tarfile.GNU_FORMAT))
    kept = list(ACCIDENTS)[:3]
    with open_submission(path) as opened:
        assert sorted(opened.files) == sorted(kept)
        assert {name: (opened.folder / name).read_bytes() for name in kept} == {name: ACCIDENTS[name] for name in kept}
        assert not (opened.folder / "hw" / ".venv").exists()
        assert opened.notes == ("hw/.venv is a virtual environment and was left out",)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_is_read_to_its_end(tmp_path: Path, method: int) -> None:
    path = tmp_path / "alice.zip"
    content = os.urandom(5_000) + bytes(3 << 20)
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("model.bin", content)
    with open_submission(path) as opened:
        assert (opened.folder / "model.bin").read_bytes() == content


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_compressed_in_another_way_says_how_to_make_another(tmp_path: Path, method: int) -> None:
    """zipfile unpacks 4 KiB of bzip2, which may be 80 MiB, at once."""
    path = tmp_path / "alice.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.py", "x")
    with pytest.raises(UsageError, match=r"make it again as an ordinary \.zip"), open_submission(path):
        pass


def test_a_tarball_of_several_streams_and_old_headers_is_read_to_its_end(tmp_path: Path) -> None:
    """As bgzip and `cat one.gz two.gz` make it; and a V7 tar, which knows neither prefixes nor types."""
    block = bytearray(header("src/attention.py", 6))
    block[156:157], block[257:] = b"\0", bytes(255)
    block[148:156] = b"%06o\0 " % (sum(block[:148]) + 8 * 32 + sum(block[156:]))
    whole = bytes(block) + b"x = 1\n" + bytes(506 + 10_240)
    path = tmp_path / "alice.tgz"
    path.write_bytes(b"".join(gzip.compress(whole[at : at + 100]) for at in range(0, len(whole), 100)) + bytes(512))
    with open_submission(path) as opened:
        assert (opened.folder / "src" / "attention.py").read_bytes() == b"x = 1\n"


def test_an_encrypted_archive_says_how_to_make_another(tmp_path: Path) -> None:
    path = tmp_path / "alice.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.py", "x")
    packed = bytearray(path.read_bytes())
    packed[6] |= 1
    packed[packed.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(packed)
    with pytest.raises(UsageError, match="it is encrypted; make it again without a password"), open_submission(path):
        pass


# Folders


def _refused(folder: Path) -> str:
    with pytest.raises(UsageError) as refused, open_submission(folder):
        pass
    return str(refused.value).removeprefix(f"{folder}: ")


@pytest.mark.slow
def test_a_folder_is_bounded_before_it_is_listed_and_read(tmp_path: Path) -> None:
    wide, deep, large = (tmp_path / name for name in ("wide", "deep", "large"))
    for folder in (wide, deep, large):
        folder.mkdir()
    for number in range(5_001):
        os.mkdir(wide / str(number))
    assert _refused(wide) == "more than 5000 files; hand in only what the assignment asks for"
    inner = deep
    for _ in range(32):
        inner = inner / "d"
        inner.mkdir()
    assert "too long or too deep; rename it" in _refused(deep)
    with (large / "weights.bin").open("wb") as file:
        file.truncate(1 << 40)
    assert _refused(large) == "more than 1024 MiB; leave data and checkpoints out"


def test_pipes_devices_sockets_and_loops_are_left_out_and_nobody_waits_for_them(tmp_path: Path) -> None:
    folder = tmp_path / "alice"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1")
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to(".")
    (folder / "dangling").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as listening:
        place = os.getcwd()
        os.chdir(folder)  # the path of a socket is bounded
        listening.bind("socket")
        os.chdir(place)
    if os.geteuid() == 0:
        os.mknod(folder / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    with open_submission(folder) as opened:
        assert opened.files == ("a.py",)
        assert all("is a link or no ordinary file and was left out" in note for note in opened.notes)
        assert len(opened.notes) == len(list(folder.iterdir())) - 1
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert _refused(fifo) == "the folder cannot be read (Not a directory)"


@contextmanager
def _as_nobody() -> Iterator[None]:
    """Root reads everything; these tests then run as somebody else."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as made:  # not pytest's folder, which is its owner's alone
        folder = Path(made) / "alice"
        (folder / "closed").mkdir(parents=True)
        for name in ("a.py", "b.py"):
            (folder / name).write_text("x = 1")
        (folder / "b.py").chmod(0)
        (folder / "closed").chmod(0)
        Path(made).chmod(0o755)
        with _as_nobody():
            with open_submission(folder) as opened:
                assert opened.files == ("a.py",)
                assert opened.notes == (
                    "b.py cannot be read and was left out",
                    "closed cannot be read and was left out",
                )
            assert _refused(folder / "closed") == "the folder cannot be read (Permission denied)"
