"""What an archive holds and how much of it may be read: the same for every kind of archive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


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
