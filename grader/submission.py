"""A folder or archive → a submission: a private copy, bounded, without links, in which files are found by name."""

from __future__ import annotations

import os
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError

from grader.errors import Ambiguous, Missing, UsageError
from grader.quoting import quote
from grader.yaml_source import YamlError, read

# A course repository with its data and a checkpoint fits; a zip bomb does not.
MAX_FILES = 5_000
MAX_BYTES = 1 * 2**30

_ARCHIVES = (".zip", ".tar.gz", ".tgz")
_TOOLS_FOLDERS = "node_modules venv env .venv .git .hg .svn .idea .vscode"
_LITTER = "__pycache__ __MACOSX .ipynb_checkpoints .DS_Store"
_NOT_THE_STUDENTS = frozenset(f"{_TOOLS_FOLDERS} {_LITTER}".split())


class _Declared(BaseModel):
    """submission.yaml: optional, and so is everything in it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    rubric: str | None = None
    student: str | None = None
    files: dict[str, str] = {}


@dataclass(frozen=True)
class OpenedSubmission:
    name: str
    folder: Path
    size_bytes: int
    files: tuple[str, ...]  # relative, with forward slashes
    rubric: str | None = None
    places: dict[str, str] = field(default_factory=dict)  # where submission.yaml says a file is
    notes: tuple[str, ...] = ()

    def find(self, file: str) -> str:
        """The one file that goes by this name, wherever it lies."""
        if file in self.places:
            place = self.places[file]
            if place not in self.files:
                raise Missing(f"submission.yaml says {file} is at {quote(place)}, but nothing is there")
            return place
        fitting = [path for path in self.files if f"/{path}".endswith(f"/{file}")]
        if not fitting:  # file systems that ignore case hand in Attention.py for attention.py
            fitting = [path for path in self.files if f"/{path}".lower().endswith(f"/{file}".lower())]
        if not fitting:
            raise Missing(f"{file} was not handed in")
        if len(fitting) > 1:
            named = " and ".join(quote(path) for path in fitting)
            raise Ambiguous(f"{file} is there more than once: {named}; keep one, or name it in submission.yaml")
        return fitting[0]


@contextmanager
def open_submission(path: Path) -> Iterator[OpenedSubmission]:
    """Copy what was handed in to a folder of its own, which goes away afterwards."""
    if not path.exists():
        raise UsageError(f"{path}: there is no such submission{_neighbours(path)}")
    is_archive = path.is_file() and path.name.lower().endswith(_ARCHIVES)
    if path.is_file() and not is_archive:
        raise UsageError(f"{path} is a file; give the folder it is in ({path.parent}), or a .zip or .tar.gz")
    with tempfile.TemporaryDirectory(prefix="grader-submission-") as temporary:
        copy = _Copy(Path(temporary), path)
        if is_archive:
            copy.take_archive()
        else:
            copy.take_folder()
        yield _describe(copy)


def _neighbours(path: Path) -> str:
    if not path.parent.is_dir():
        return ""
    names = sorted(entry.name for entry in path.parent.iterdir() if entry.is_dir())[:12]
    return f"; {path.parent} holds {', '.join(names)}" if names else ""


class _Copy:
    """Files taken over one by one, counted as they come."""

    def __init__(self, target: Path, source: Path) -> None:
        self.folder = target
        self.source = source
        self.files: list[str] = []
        self.size_bytes = 0
        self.notes: list[str] = []

    def take_folder(self) -> None:
        for here, folders, names in os.walk(self.source):
            folders[:] = sorted(name for name in folders if name not in _NOT_THE_STUDENTS)
            for name in sorted(names):
                original = Path(here) / name
                relative = original.relative_to(self.source).as_posix()
                self._take_file(original, relative)
            for name in [name for name in folders if (Path(here) / name).is_symlink()]:
                self._leave_out((Path(here) / name).relative_to(self.source).as_posix(), "is a link")

    def _take_file(self, original: Path, relative: str) -> None:
        if not stat.S_ISREG(original.lstat().st_mode):
            self._leave_out(relative, "is a link or no ordinary file")
            return
        try:
            with original.open("rb") as stream:
                self._take(relative, stream)
        except PermissionError:
            self._leave_out(relative, "cannot be read")

    def take_archive(self) -> None:
        try:
            if self.source.name.lower().endswith(".zip"):
                self._take_zip()
            else:
                self._take_tar()
        except (
            zipfile.BadZipFile,
            tarfile.TarError,
            EOFError,
            OSError,
            RuntimeError,
            NotImplementedError,
        ) as error:
            # RuntimeError and NotImplementedError are how zipfile says "encrypted" and "unknown compression".
            raise UsageError(f"{self.source}: the archive cannot be opened ({quote(str(error))})") from None

    def _take_zip(self) -> None:
        with zipfile.ZipFile(self.source) as archive:
            for member in archive.infolist():
                kind = stat.S_IFMT(member.external_attr >> 16)
                if member.is_dir():
                    continue
                if kind not in (0, stat.S_IFREG):
                    self._leave_out(member.filename, "is a link or no ordinary file")
                    continue
                with archive.open(member) as stream:
                    self._take(member.filename, stream)

    def _take_tar(self) -> None:
        with tarfile.open(self.source) as archive:
            for member in archive:
                if member.isdir():
                    continue
                stream = archive.extractfile(member) if member.isreg() else None
                if stream is None:
                    self._leave_out(member.name, "is a link or no ordinary file")
                    continue
                self._take(member.name, stream)

    def _take(self, name: str, stream: IO[bytes]) -> None:
        place = PurePosixPath(name.replace("\\", "/"))
        if place.is_absolute() or ".." in place.parts or ":" in place.parts[0] or "\0" in name:
            raise UsageError(f"{self.source}: refused, because '{quote(name)}' points outside the archive")
        if _NOT_THE_STUDENTS.intersection(place.parts):
            return
        relative = place.as_posix()
        target = self.folder / relative
        if len(self.files) >= MAX_FILES:
            raise UsageError(f"{self.source}: more than {MAX_FILES} files; hand in only what the assignment asks for")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as copy:
            while chunk := stream.read(1 << 20):
                self.size_bytes += len(chunk)
                if self.size_bytes > MAX_BYTES:
                    raise UsageError(f"{self.source}: more than {MAX_BYTES >> 20} MiB; leave data and checkpoints out")
                copy.write(chunk)
        if relative not in self.files:
            self.files.append(relative)

    def _leave_out(self, name: str, why: str) -> None:
        self.notes.append(f"{quote(name)} {why} and was left out")


def _describe(copy: _Copy) -> OpenedSubmission:
    name = copy.source.resolve().name
    for ending in _ARCHIVES:
        name = name.removesuffix(ending)
    notes = list(copy.notes)
    if not copy.files:
        notes.append("nothing was handed in: it is empty")
    declared = _Declared()
    if "submission.yaml" in copy.files:
        try:
            written = read((copy.folder / "submission.yaml").read_text(encoding="utf-8"))
            declared = _Declared.model_validate(written.data or {})
        except YamlError as error:
            notes.append(f"submission.yaml:{error.line}: {quote(error.cause)}; it was ignored")
        except UnicodeDecodeError:
            notes.append("submission.yaml is not UTF-8 text; it was ignored")
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            notes.append(f"submission.yaml: '{quote(where)}': {first['msg'].lower()}; it was ignored")
    return OpenedSubmission(
        name=quote(declared.student or name, 80),
        folder=copy.folder,
        size_bytes=copy.size_bytes,
        files=tuple(copy.files),
        rubric=declared.rubric,
        places={name: PurePosixPath(place).as_posix() for name, place in declared.files.items()},
        notes=tuple(notes),
    )
