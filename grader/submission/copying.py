"""A private copy of a submission: bounded before it is read, without links, without what is not the student's."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from grader.errors import UsageError
from grader.quoting import quote
from grader.submission.archives import Bounds, BrokenArchive, Content, Member, members

# A course repository with its data and a checkpoint fits; a zip bomb does not.
MAX_FILES = 5_000
MAX_BYTES = 1 * 2**30
# What is passed over in an archive costs time too: node_modules, or an environment with torch in it, by accident.
ARCHIVE_BOUNDS = Bounds(members=50_000, streamed_bytes=2 * 2**30)
MAX_PATH_CHARACTERS = 300
MAX_DEPTH = 30
MAX_NOTES = 20

_TOOLS_FOLDERS = {"node_modules", ".git", ".hg", ".svn", ".idea", ".vscode"}
_NOT_THE_STUDENTS = _TOOLS_FOLDERS | {"__pycache__", "__MACOSX", ".ipynb_checkpoints", ".DS_Store"}
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"  # the file that makes a folder one, whatever it is called

# Does not wait for the other end of a pipe, and does not follow what has become a link. Windows has neither flag.
_WARILY = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_CHUNK_BYTES = 1 << 20


class Copy:
    """Files copied one by one, counted as they come."""

    def __init__(self, target: Path, source: Path) -> None:
        self.folder = target
        self.source = source
        self.files: dict[str, None] = {}
        self.size_bytes = 0
        self._left_out: list[str] = []
        self._seen = 0

    def take_folder(self) -> None:
        waiting = [(os.fspath(self.source), "")]
        while waiting:
            here, above = waiting.pop()
            try:
                with os.scandir(here) as entries:
                    listed = sorted(islice(entries, MAX_FILES + 1), key=lambda entry: entry.name)
            except OSError as error:
                if not above:
                    raise self._refused(f"the folder cannot be read ({error.strerror})") from None
                self._leave_out(above, "cannot be read")
                continue
            if above and any(entry.name == _VIRTUAL_ENVIRONMENT for entry in listed):
                self._leave_out(above, "is a virtual environment")
                continue
            for entry in listed:
                relative = f"{above}/{entry.name}" if above else entry.name
                self._count(relative)
                if entry.name in _NOT_THE_STUDENTS:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, relative))
                else:
                    self._take_file(entry.path, relative)

    def _take_file(self, path: str, relative: str) -> None:
        try:
            stream = _opened(path)
        except OSError:
            self._leave_out(relative, "cannot be read")
            return
        if stream is None:
            self._leave_out(relative, "is a link or no ordinary file")
            return
        self._take_open(stream, relative)

    def take_notebook(self) -> None:
        self._take_open(self.source.open("rb"), self.source.name)

    def _take_open(self, stream: BinaryIO, relative: str) -> None:
        with stream:
            self._check_size(self.size_bytes + os.fstat(stream.fileno()).st_size)
            self._take(relative, stream)

    def take_archive(self) -> None:
        try:
            wanted = self._wanted()
            for number, member in enumerate(members(self.source, ARCHIVE_BOUNDS)):
                if number in wanted:
                    self._take(wanted[number], member.open())
        except UsageError:
            raise
        except BrokenArchive as error:
            raise self._refused(f"the archive cannot be opened: {error}") from None
        except OSError as error:  # a file where a folder should be, a name the file system cannot hold
            raise self._refused(f"the archive cannot be opened ({quote(str(error.strerror or error))})") from None
        except Exception as error:  # zlib, lzma, struct, unicode: decoders raise all kinds of things
            cause = quote(f"{type(error).__name__}: {error}")
            raise self._refused(f"the archive cannot be opened ({cause}); make it again") from None

    def _wanted(self) -> dict[int, str]:
        """Which members of the archive are the student's files, and their paths. Counts everything, unpacks nothing."""
        found: dict[str, tuple[int, int]] = {}
        for number, member in enumerate(members(self.source, ARCHIVE_BOUNDS)):
            if (relative := self._path_of(member)) is None:
                continue
            if relative in found:
                raise self._refused(f"refused, because '{quote(relative)}' is in it twice")
            found[relative] = number, member.size
        marks = [path for path in map(PurePosixPath, found) if path.name == _VIRTUAL_ENVIRONMENT]
        environments = {str(mark.parent) for mark in marks} - {"."}
        for environment in sorted(environments):
            self._leave_out(environment, "is a virtual environment")
        wanted: dict[int, str] = {}
        claimed_bytes = 0
        for relative, (number, size) in found.items():
            if environments.isdisjoint(map(str, PurePosixPath(relative).parents)):
                self._count(relative)
                claimed_bytes += size
                self._check_size(claimed_bytes)
                wanted[number] = relative
        return wanted

    def _path_of(self, member: Member) -> str | None:
        """Where the member belongs; None if it is passed over."""
        name = member.name.replace("\\", "/")
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name) or "\0" in name:
            raise self._refused(f"refused, because '{quote(member.name)}' points outside the archive")
        if not _NOT_THE_STUDENTS.isdisjoint(path.parts):
            return None
        if not member.is_file:
            self._count(path.as_posix())
            self._leave_out(path.as_posix(), "is a link or no ordinary file")
            return None
        return path.as_posix()

    def _count(self, relative: str) -> None:
        """Every file, folder and link counts, copied or not: each costs time."""
        self._seen += 1
        if self._seen > MAX_FILES:
            raise self._refused(f"more than {MAX_FILES} files; hand in only what the assignment asks for")
        if len(relative) > MAX_PATH_CHARACTERS or relative.count("/") > MAX_DEPTH or relative in ("", "."):
            fault = "is not a usable name, or its path is too long or too deep; rename it"
            raise self._refused(f"'{quote(relative, 60)}' {fault}")

    def _check_size(self, size: int) -> None:
        """Of what is copied so far with what a file claims, before a byte of it is read."""
        if size > MAX_BYTES:
            raise self._refused(f"more than {MAX_BYTES >> 20} MiB; leave data and checkpoints out")

    def _take(self, relative: str, stream: Content) -> None:
        target = self.folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as copy:
            copy.writelines(self._counted(stream))
        self.files[relative] = None

    def _counted(self, stream: Content) -> Iterator[bytes]:
        while chunk := stream.read(_CHUNK_BYTES):
            self.size_bytes += len(chunk)
            self._check_size(self.size_bytes)  # it may grow while it is read
            yield chunk

    def _refused(self, what: str) -> UsageError:
        return UsageError(f"{quote(str(self.source))}: {what}")

    def _leave_out(self, name: str, why: str) -> None:
        self._left_out.append(f"{quote(name)} {why} and was left out")

    def all_notes(self) -> list[str]:
        more = len(self._left_out) - MAX_NOTES
        return self._left_out[:MAX_NOTES] + ([f"{more} more were left out"] if more > 0 else [])


def beginning_of(source: Path, name: str, most: int) -> bytes:
    """The first bytes of one file in a folder or archive; nothing if it is not there."""
    if source.is_dir():
        stream = _opened(os.fspath(source / name))
        if stream is None:
            return b""
        with stream:
            return stream.read(most)
    for member in members(source, ARCHIVE_BOUNDS):
        if member.is_file and PurePosixPath(member.name.replace("\\", "/")).as_posix() == name:
            return member.open().read(most)
    return b""


def _opened(path: str) -> BinaryIO | None:
    """The file; None if it is a link, a device or a pipe, or has become one since it was listed."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return None
    stream = os.fdopen(os.open(path, _WARILY), "rb")
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return stream
    stream.close()
    return None
