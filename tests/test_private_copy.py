"""A copy holds what was handed in, whatever happens to that meanwhile; its digests are those of the copy."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from grader import private_copy
from grader.batch import fingerprints
from grader.private_copy import Copy
from grader.rubric import load_rubric
from grader.submission import open_submission
from tests.conftest import REPOSITORY
from tests.test_notebooks import notebook

CONTENTS = (b"", b"x", b"x" * 4095, b"x" * 4096, b"\0\xff" * 3000)


def _handed_in(folder: Path) -> Path:
    (folder / "work" / "deep" / "er").mkdir(parents=True)
    for number, content in enumerate(CONTENTS):
        (folder / "work" / ("deep/er/" if number % 2 else "") / f"{number}.bin").write_bytes(content)
    return folder / "work"


@pytest.mark.parametrize("chunk", [1 << 20, 4096, 1000, 1])
def test_every_byte_is_copied_however_many_come_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(private_copy, "_CHUNK_BYTES", chunk)
    with open_submission(_handed_in(tmp_path), tmp_path) as opened:
        copied = {int(Path(file).stem): (opened.folder / file).read_bytes() for file in opened.files}
        assert [copied[number] for number in range(len(CONTENTS))] == list(CONTENTS)
        assert opened.size_bytes == sum(map(len, CONTENTS))


@pytest.mark.parametrize("change", [b"much more " * 1000, b"less", b""])
def test_a_file_that_changes_while_it_is_read_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: bytes
) -> None:
    path = tmp_path / "work" / "a.txt"
    path.parent.mkdir()
    path.write_bytes(b"as it was")
    opened_file = private_copy._opened

    def open_and_change(entry: os.DirEntry[str]) -> object:
        found = opened_file(entry)
        path.write_bytes(change)
        return found

    monkeypatch.setattr(private_copy, "_opened", open_and_change)
    with open_submission(path.parent, tmp_path) as opened:
        assert (opened.folder / "a.txt").read_bytes() == change
        assert opened.digests["a.txt"] == hashlib.sha256(change).hexdigest()


def test_a_write_that_takes_a_part_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    with open_submission(_handed_in(tmp_path)) as opened:
        assert (opened.folder / "4.bin").read_bytes() == CONTENTS[4]


def test_what_became_a_pipe_after_it_was_listed_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = _handed_in(tmp_path)
    opened_file = private_copy._opened

    def swap_and_open(entry: os.DirEntry[str]) -> object:
        if entry.name == "0.bin":
            os.unlink(entry.path)
            os.mkfifo(entry.path)
        return opened_file(entry)

    monkeypatch.setattr(private_copy, "_opened", swap_and_open)
    with open_submission(work) as opened:
        assert opened.notes == ("0.bin is a link or no ordinary file and was left out",)
        assert len(opened.files) == len(CONTENTS) - 1


@pytest.mark.parametrize("zipped", [False, True])
def test_digests_are_those_of_the_files_in_the_copy(tmp_path: Path, zipped: bool) -> None:
    work = _handed_in(tmp_path)
    if zipped:
        with zipfile.ZipFile(tmp_path / "work.zip", "w") as archive:
            for file in work.rglob("*.bin"):
                archive.write(file, file.relative_to(work))
        work = tmp_path / "work.zip"
    with open_submission(work, tmp_path) as small, open_submission(work) as other:
        assert small.digests == {file: fingerprints.of_file(small.folder / file) for file in small.files}
        assert small.contents == {file: (small.folder / file).read_bytes() for file in small.files}
        assert other.digests == other.contents == {}  # there may be gigabytes, of which nobody wants any
        assert fingerprints.of_submission(small) == fingerprints.of_submission(other)


def test_what_is_written_for_a_notebook_has_no_digest_from_before(tmp_path: Path) -> None:
    """A file that was handed in may have the name that a part of a notebook gets."""
    rubric = load_rubric(REPOSITORY / "rubrics" / "dl-hw3.yaml")
    work = tmp_path / "work"
    work.mkdir()
    (work / "hw.ipynb").write_text(notebook("def attention(Q, K, V, beta):\n    return V"))
    with open_submission(work) as opened:
        (part,) = (file for file in opened.for_rubric(rubric).files if file.endswith("#attention.py"))
    (work / part).write_text("x = 1\n")
    with open_submission(work, tmp_path) as opened:
        ready = opened.for_rubric(rubric)
        assert part in opened.digests
        assert part not in ready.digests
        assert part not in ready.contents
        assert ready.read("attention.py") == (ready.folder / part).read_bytes() != b"x = 1\n"
        assert ready.digests["hw.ipynb"] == opened.digests["hw.ipynb"]


def test_only_what_is_short_is_kept(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    for size in (private_copy._SHORT_BYTES, private_copy._SHORT_BYTES + 1):
        (tmp_path / "work" / f"{size}.txt").write_bytes(size * b"x")
    with open_submission(tmp_path / "work", tmp_path) as opened:
        assert [*opened.contents] == [f"{private_copy._SHORT_BYTES}.txt"]
        assert {len(opened.read(file)) for file in opened.files} == {size, size - 1}


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_declaration_says_the_same_from_memory_and_from_the_disk(tmp_path: Path, ends: str, mark: str) -> None:
    for number, text in enumerate(("rubric: r\nstudent: s\n", "rubric: r\nfiles: [\n", "# " + 16_384 * "x", "a: \xff")):
        work = tmp_path / str(number)
        work.mkdir()
        encoded = (mark + text.replace("\n", ends)).encode("latin-1" if "\xff" in text and not mark else "utf-8")
        (work / "submission.yaml").write_bytes(encoded)
        with open_submission(work, tmp_path) as small, open_submission(work) as other:
            assert bool(small.contents)
            assert (small.rubric, small.student, small.notes) == (other.rubric, other.student, other.notes)


@pytest.mark.parametrize("left", ["", "beside.txt", "deep/er/more.txt", "new/folder/more.txt"])
def test_nothing_of_a_copy_stays(tmp_path: Path, left: str) -> None:
    (tmp_path / "copy").mkdir()
    copy = Copy(tmp_path / "copy", _handed_in(tmp_path))
    copy.take_folder()
    assert (tmp_path / "copy" / "deep" / "er" / "1.bin").exists()
    if left:
        (tmp_path / "copy" / left).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copy" / left).write_text("written later")
    copy.remove()
    assert not (tmp_path / "copy").exists()


def test_a_submission_behind_a_link_goes_by_the_name_of_what_it_links_to(tmp_path: Path) -> None:
    work = _handed_in(tmp_path)
    (tmp_path / "link").symlink_to(work)
    (tmp_path / "folder").symlink_to(tmp_path)
    for given in (tmp_path / "link", tmp_path / "folder" / "work", work / "deep" / ".."):
        with open_submission(given) as opened:
            assert opened.name == "work"
