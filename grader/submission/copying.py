"""A private copy of what was handed in: bounded before it is read, without links, without what is not the student's."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from itertools import islice
from pathlib import Path, PurePosixPath

from grader.errors import UsageError
from grader.quoting import quote
from grader.submission.archives import Bounds, BrokenArchive, Content, Member, members

# A course repository with its data and a checkpoint fits; a zip bomb does not.
MAX_FILES = 5_000
MAX_BYTES = 1 * 2**30
# What is passed over in an archive costs time too: node_modules, or an environment with torch in it, by accident.
ARCHIVE_BOUNDS = Bounds(members=50_000, streamed_bytes=2 * 2**30)
MAX_PASSED_CHARACTERS = 4096  # of a path that is passed over; no file system has longer ones
MAX_PATH_CHARACTERS = 300
MAX_DEPTH = 30
MAX_NOTES = 20

_TOOLS_FOLDERS = "node_modules .git .hg .svn .idea .vscode"
_LITTER = "__pycache__ __MACOSX .ipynb_checkpoints .DS_Store"
_NOT_THE_STUDENTS = frozenset(f"{_TOOLS_FOLDERS} {_LITTER}".split())
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"  # the file that makes a folder one, whatever it is called

# Does not wait for the other end of a pipe, and does not follow what has become a link. Windows has neither flag.
_WARILY = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_ANEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
_CHUNK_BYTES = 1 << 20


class Copy:
    """Files taken over one by one, counted as they come."""

    def __init__(self, target: Path, source: Path) -> None:
        self.folder = target
        self.source = source
        self.files: dict[str, None] = {}
        self.size_bytes = 0
        self.notes: list[str] = []
        self._left_out = 0
        self._seen = 0
        self._claimed_bytes = 0
        self._inside = os.path.join(target, "")
        self._made: dict[str, None] = {}  # folders of the copy

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
                    self._take_file(entry, relative)

    def _take_file(self, original: os.DirEntry[str], relative: str) -> None:
        try:
            stream = _opened(original)
        except OSError:
            self._leave_out(relative, "cannot be read")
            return
        if stream is None:
            self._leave_out(relative, "is a link or no ordinary file")
            return
        with stream:
            self._claim(stream.size)
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

    def take_notebook(self) -> None:
        with self.source.open("rb") as stream:
            self._claim(os.fstat(stream.fileno()).st_size)
            self._take(self.source.name, stream)

    def _wanted(self) -> dict[int, str]:
        """Which members of the archive are the student's files, and their paths. Counts everything, unpacks nothing."""
        found: dict[int, str] = {}
        sizes: dict[int, int] = {}
        for number, member in enumerate(members(self.source, ARCHIVE_BOUNDS)):
            if (relative := self._path_of(member)) is not None:
                found[number], sizes[number] = relative, member.size
        marks = [path for path in map(PurePosixPath, found.values()) if path.name == _VIRTUAL_ENVIRONMENT]
        environments = {str(mark.parent) for mark in marks} - {"."}
        for environment in sorted(environments):
            self._leave_out(environment, "is a virtual environment")
        wanted: dict[int, str] = {}
        for number, relative in found.items():
            if not environments or environments.isdisjoint(map(str, PurePosixPath(relative).parents)):
                self._count(relative)
                self._claim(sizes[number])
                wanted[number] = relative
        if len(set(wanted.values())) < len(wanted):
            twice = next(path for path, times in Counter(wanted.values()).items() if times > 1)
            raise self._refused(f"refused, because '{quote(twice)}' is in it twice")
        return wanted

    def _path_of(self, member: Member) -> str | None:
        """Where the member belongs; None if it is passed over."""
        name = member.name.replace("\\", "/")
        if len(name) > MAX_PASSED_CHARACTERS:
            raise self._refused(
                f"'{quote(name, 60)}' is not a usable name, or its path is too long or too deep; rename it"
            )
        place = PurePosixPath(name)
        drive = re.match(r"[A-Za-z]:", name)
        if place.is_absolute() or ".." in place.parts or drive or "\0" in name:
            raise self._refused(f"refused, because '{quote(member.name)}' points outside the archive")
        if not _NOT_THE_STUDENTS.isdisjoint(place.parts):
            return None
        if not member.is_file:
            self._count(place.as_posix())
            self._leave_out(place.as_posix(), "is a link or no ordinary file")
            return None
        return place.as_posix()

    def _claim(self, size: int) -> None:
        """Count the size that a file claims, before a byte of it is read."""
        self._claimed_bytes += size
        self._hold_against_bounds(self._claimed_bytes)

    def _hold_against_bounds(self, size: int) -> None:
        if size > MAX_BYTES:
            raise self._refused(f"more than {MAX_BYTES >> 20} MiB; leave data and checkpoints out")

    def _take(self, relative: str, stream: Content) -> None:
        target = f"{self._inside}{relative}"
        if "/" in relative and (parent := os.path.dirname(target)) not in self._made:
            os.makedirs(parent, exist_ok=True)
            self._made[parent] = None
        copy = os.open(target, _ANEW, 0o666)  # most files are one chunk: a buffer would cost more calls than it saves
        try:
            while chunk := stream.read(_CHUNK_BYTES):
                self.size_bytes += len(chunk)
                self._hold_against_bounds(self.size_bytes)  # it may grow while it is read
                while (written := os.write(copy, chunk)) < len(chunk):
                    chunk = chunk[written:]
        finally:
            os.close(copy)
        self.files[relative] = None

    def _count(self, relative: str) -> None:
        """Every file, folder and link counts, kept or not: each costs time."""
        self._seen += 1
        if self._seen > MAX_FILES:
            raise self._refused(f"more than {MAX_FILES} files; hand in only what the assignment asks for")
        if len(relative) > MAX_PATH_CHARACTERS or relative.count("/") > MAX_DEPTH or relative in ("", "."):
            raise self._refused(
                f"'{quote(relative, 60)}' is not a usable name, or its path is too long or too deep; rename it"
            )

    def _refused(self, what: str) -> UsageError:
        return UsageError(f"{quote(str(self.source))}: {what}")

    def _leave_out(self, name: str, why: str) -> None:
        self._left_out += 1
        if self._left_out <= MAX_NOTES:
            self.notes.append(f"{quote(name)} {why} and was left out")

    def all_notes(self) -> list[str]:
        more = self._left_out - MAX_NOTES
        return [*self.notes, f"{more} more were left out"] if more > 0 else list(self.notes)


def beginning_of(source: Path, name: str, most: int) -> bytes:
    """The first bytes of one file in a folder or archive; nothing if it is not there."""
    if source.is_dir():
        with _Opened(os.fspath(source / name)) as stream:
            return stream.read(most) if stream.is_ordinary else b""
    for member in members(source, ARCHIVE_BOUNDS):
        if member.is_file and PurePosixPath(member.name.replace("\\", "/")).as_posix() == name:
            return member.open().read(most)
    return b""


class _Opened:
    """A file that is read from its beginning to its end."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, _WARILY)
        found = os.fstat(self._descriptor)
        self.is_ordinary, self.size = stat.S_ISREG(found.st_mode), found.st_size
        self._left = self.size
        self._ended = False

    def read(self, most: int, /) -> bytes:
        """One byte more than is left is asked for: if it does not come, that was all, and nobody need ask again."""
        if self._ended:
            return b""
        asked = min(most, self._left + 1) if self._left >= 0 else most  # it may have grown
        chunk = os.read(self._descriptor, asked)
        self._left -= len(chunk)
        self._ended = not self._left and len(chunk) < asked
        return chunk

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self._descriptor)


def _opened(entry: os.DirEntry[str]) -> _Opened | None:
    """The file; None if it is a link, a device or a pipe. The listing says so; once it is open, it is looked at again:
    it may have become one."""
    if not entry.is_file(follow_symlinks=False):
        return None
    stream = _Opened(entry.path)
    if stream.is_ordinary:
        return stream
    with stream:
        return None
