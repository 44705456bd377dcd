"""A copy holds what was handed in, whatever happens to that meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from grader.submission import copying as private_copy
from grader.submission.opening import open_submission

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
    with open_submission(_handed_in(tmp_path)) as opened:
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

    def open_and_change(listed: str) -> object:
        found = opened_file(listed)
        path.write_bytes(change)
        return found

    monkeypatch.setattr(private_copy, "_opened", open_and_change)
    with open_submission(path.parent) as opened:
        assert (opened.folder / "a.txt").read_bytes() == change


def test_what_became_a_pipe_after_it_was_listed_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = _handed_in(tmp_path)
    open_descriptor = os.open

    def swap_and_open(path: str, *flags: Any, **options: Any) -> int:
        if path == str(work / "0.bin"):
            os.unlink(path)
            os.mkfifo(path)
        return open_descriptor(path, *flags, **options)

    monkeypatch.setattr(os, "open", swap_and_open)
    with open_submission(work) as opened:
        assert opened.notes == ("0.bin is a link or no ordinary file and was left out",)
        assert len(opened.files) == len(CONTENTS) - 1


@pytest.mark.parametrize("left", ["", "beside.txt", "deep/er/more.txt", "new/folder/more.txt"])
def test_nothing_of_a_copy_stays(tmp_path: Path, left: str) -> None:
    with open_submission(_handed_in(tmp_path)) as opened:
        assert (opened.folder / "deep" / "er" / "1.bin").exists()
        if left:
            (opened.folder / left).parent.mkdir(parents=True, exist_ok=True)
            (opened.folder / left).write_text("written later")
    assert not opened.folder.exists()


def test_a_submission_behind_a_link_goes_by_the_name_of_what_it_links_to(tmp_path: Path) -> None:
    work = _handed_in(tmp_path)
    (tmp_path / "link").symlink_to(work)
    (tmp_path / "folder").symlink_to(tmp_path)
    for given in (tmp_path / "link", tmp_path / "folder" / "work", work / "deep" / ".."):
        with open_submission(given) as opened:
            assert opened.name == "work"
