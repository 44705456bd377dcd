"""What an archive holds and how much of it may be read: the same for every kind of archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class BrokenArchive(Exception):
    """The archive claims what no real one would; the text says what, and what to do."""


@dataclass(frozen=True)
class Bounds:
    """What may be gone through in an archive, whether it is kept or not: passing over costs time too."""

    members: int  # files, folders, links
    streamed_bytes: int  # of what has to be unpacked to get past it

    def too_many(self) -> BrokenArchive:
        return BrokenArchive(
            f"it holds more than {self.members} files and folders; hand in only what the assignment asks for"
        )

    def too_large(self) -> BrokenArchive:
        return BrokenArchive(
            f"it unpacks to more than {self.streamed_bytes >> 20} MiB; leave data, checkpoints and environments out"
        )


class Content(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Member(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int:
        """How many bytes it says it has; its content is never longer."""

    @property
    def is_file(self) -> bool:
        """Neither a link nor a device nor a pipe."""

    def open(self) -> Content: ...
