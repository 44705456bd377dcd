"""A folder, archive or notebook → a submission: a private copy, bounded, without links; files are found by name."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any

from grader.archives import ENDINGS, Member, members
from grader.errors import Ambiguous, Missing, UsageError, WrongKind
from grader.model import Rubric
from grader.notebooks import ENDING as NOTEBOOK
from grader.notebooks import Notebook, parts_holding, read_all, sheets_in
from grader.quoting import quote
from grader.yaml_source import YamlError, read

# A course repository with its data and a checkpoint fits; a zip bomb does not.
MAX_FILES = 5_000
MAX_BYTES = 1 * 2**30
MAX_PATH_CHARACTERS = 300
MAX_DEPTH = 30
MAX_NOTES = 20
MAX_DECLARATION_BYTES = 16_384
MAX_READ_BYTES = 16 * 2**20  # predictions and answers are far below a megabyte

_ANSWERS = "answers.md"
_SHEET = re.compile(r"(^|/)answers\.[a-z]+$", re.IGNORECASE)

_TOOLS_FOLDERS = "node_modules .git .hg .svn .idea .vscode"
_LITTER = "__pycache__ __MACOSX .ipynb_checkpoints .DS_Store"
_NOT_THE_STUDENTS = frozenset(f"{_TOOLS_FOLDERS} {_LITTER}".split())
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"  # the file that makes a folder one, whatever it is called


@dataclass(frozen=True)
class OpenedSubmission:
    name: str
    folder: Path
    size_bytes: int
    files: tuple[str, ...]  # relative, with forward slashes
    rubric: str | None = None
    places: dict[str, str] = field(default_factory=dict)  # where submission.yaml says a file is
    notes: tuple[str, ...] = ()
    notebooks: tuple[Notebook, ...] = ()
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what notebooks hold of the files asked for

    def for_rubric(self, rubric: Rubric) -> OpenedSubmission:
        """Itself, with a file for each part of a notebook that holds what the rubric asks a file of code to define.

        Where there is no sheet of answers, the text of a notebook is one.
        """
        parts, places = {}, dict(self.places)
        if self.notebooks and not any(_SHEET.search(path) for path in self.files):
            place = places.get(_ANSWERS)
            asked = [notebook for notebook in self.notebooks if place in (notebook.path, None)]
            parts[_ANSWERS] = tuple(sheets_in(_ANSWERS, asked, self.folder))
            if place is not None and parts[_ANSWERS]:
                places[_ANSWERS] = parts[_ANSWERS][0]
        for file, names in rubric.definitions.items() if self.notebooks else ():
            place = self.places.get(file)
            asked = [notebook for notebook in self.notebooks if place in (notebook.path, None)]
            surely = place is None and bool(self._fitting(file))
            parts[file] = tuple(parts_holding(file, names, asked, self.folder, surely=surely))
            if place is not None and parts[file]:
                places[file] = parts[file][0]
        made = (part for several in parts.values() for part in several)
        return replace(self, files=tuple(dict.fromkeys((*self.files, *made))), places=places, parts=parts)

    def _fitting(self, file: str) -> list[str]:
        """Files of this name. File systems that ignore case hand in Attention.py for attention.py."""
        exact = [path for path in self.files if f"/{path}".endswith(f"/{file}")]
        return exact or [path for path in self.files if f"/{path}".lower().endswith(f"/{file}".lower())]

    def find(self, file: str) -> str:
        """The one file that goes by this name, wherever it lies."""
        if file in self.places:
            place = self.places[file]
            if place not in self.files:
                raise Missing(f"submission.yaml says {file} is at {quote(place)}, but nothing is there")
            return place
        fitting = [*self._fitting(file), *self.parts.get(file, ())]
        if not fitting:
            raise Missing(f"{file} was not handed in")
        if len(fitting) > 1:
            named = " and ".join(quote(path.removesuffix(f"#{file}")) for path in sorted(fitting))
            raise Ambiguous(f"{file} is there more than once: {named}; keep one, or name it in submission.yaml")
        return fitting[0]

    def read(self, file: str) -> bytes:
        path = self.folder / self.find(file)
        if path.stat().st_size > MAX_READ_BYTES:
            raise WrongKind(f"{file} is larger than {MAX_READ_BYTES >> 20} MiB, so it was not read")
        return path.read_bytes()


@contextmanager
def open_submission(path: Path) -> Iterator[OpenedSubmission]:
    """Copy what was handed in to a folder of its own, which goes away afterwards."""
    if not path.exists():
        raise UsageError(f"{quote(str(path))}: there is no such submission{_neighbours(path)}")
    is_archive = path.is_file() and path.name.lower().endswith(ENDINGS)
    is_notebook = path.is_file() and path.name.lower().endswith(NOTEBOOK)
    if path.is_file() and not is_archive and not is_notebook:
        given, folder = quote(str(path)), quote(str(path.parent))
        raise UsageError(f"{given} is a file; give the folder it is in ({folder}), or a .zip, .tar.gz or .ipynb")
    with tempfile.TemporaryDirectory(prefix="grader-submission-") as temporary:
        copy = _Copy(Path(temporary), path)
        if is_archive:
            copy.take_archive()
        elif is_notebook:
            copy.take_notebook()
        else:
            copy.take_folder()
        opened = _describe(copy)
        if is_notebook and not opened.notebooks:
            raise UsageError(opened.notes[0])
        yield opened


def _neighbours(path: Path) -> str:
    if not path.parent.is_dir():
        return ""
    names = sorted(quote(entry.name, 40) for entry in path.parent.iterdir() if entry.is_dir())[:12]
    return f"; {quote(str(path.parent))} holds {', '.join(names)}" if names else ""


class _Copy:
    """Files taken over one by one, counted as they come."""

    def __init__(self, target: Path, source: Path) -> None:
        self.folder = target
        self.source = source
        self.files: dict[str, None] = {}
        self.size_bytes = 0
        self.notes: list[str] = []
        self._left_out = 0
        self._seen = 0

    def take_folder(self) -> None:
        waiting = [self.source]
        while waiting:
            here = waiting.pop()
            with os.scandir(here) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
            if any(entry.name == _VIRTUAL_ENVIRONMENT for entry in listed):
                self._leave_out(self._relative(here), "is a virtual environment")
                continue
            for entry in listed:
                relative = self._relative(Path(entry.path))
                if entry.name in _NOT_THE_STUDENTS:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    self._count(relative)
                    waiting.append(Path(entry.path))
                else:
                    self._take_file(Path(entry.path), relative)

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.source).as_posix()

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
            for member in members(self.source):
                self._take_member(member)
        except UsageError:
            raise
        except OSError as error:  # a file where a folder should be, a name the file system cannot hold
            raise self._refused(f"the archive cannot be opened ({quote(str(error.strerror or error))})") from None
        except Exception as error:  # zlib, lzma, struct, unicode, encryption: decoders raise all kinds of things
            raise self._refused(f"the archive cannot be opened ({quote(f'{type(error).__name__}: {error}')})") from None
        self._drop_virtual_environments()

    def take_notebook(self) -> None:
        with self.source.open("rb") as stream:
            self._take(self.source.name, stream)

    def _take_member(self, member: Member) -> None:
        place = PurePosixPath(member.name.replace("\\", "/"))
        drive = re.match(r"[A-Za-z]:", member.name)
        if place.is_absolute() or ".." in place.parts or drive or "\0" in member.name:
            raise self._refused(f"refused, because '{quote(member.name)}' points outside the archive")
        relative = place.as_posix()
        if relative in self.files:
            raise self._refused(f"refused, because '{quote(relative)}' is in it twice")
        if member.content is None:
            self._leave_out(relative, "is a link or no ordinary file")
        elif not _NOT_THE_STUDENTS.intersection(place.parts):
            self._take(relative, member.content)

    def _drop_virtual_environments(self) -> None:
        roots = {str(PurePosixPath(file).parent) for file in self.files if file.endswith(f"/{_VIRTUAL_ENVIRONMENT}")}
        for root in roots:
            self.files = {file: None for file in self.files if not file.startswith(f"{root}/")}
            self._leave_out(root, "is a virtual environment")

    def _take(self, relative: str, stream: IO[bytes]) -> None:
        self._count(relative)
        target = self.folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as copy:
            while chunk := stream.read(1 << 20):
                self.size_bytes += len(chunk)
                if self.size_bytes > MAX_BYTES:
                    raise self._refused(f"more than {MAX_BYTES >> 20} MiB; leave data and checkpoints out")
                copy.write(chunk)
        self.files[relative] = None

    def _count(self, relative: str) -> None:
        """Every file, folder and link counts, kept or not: each costs time."""
        self._seen += 1
        if self._seen > MAX_FILES:
            raise self._refused(f"more than {MAX_FILES} files; hand in only what the assignment asks for")
        if len(relative) > MAX_PATH_CHARACTERS or relative.count("/") > MAX_DEPTH or relative in ("", "."):
            raise self._refused(f"'{quote(relative, 60)}' is no name, or too long or deep a path")

    def _refused(self, what: str) -> UsageError:
        return UsageError(f"{quote(str(self.source))}: {what}")

    def _leave_out(self, name: str, why: str) -> None:
        self._count(name or ".?")
        self._left_out += 1
        if self._left_out <= MAX_NOTES:
            self.notes.append(f"{quote(name)} {why} and was left out")

    def all_notes(self) -> list[str]:
        more = self._left_out - MAX_NOTES
        return [*self.notes, f"{more} more were left out"] if more > 0 else list(self.notes)


def _describe(copy: _Copy) -> OpenedSubmission:
    """The name is the folder's or archive's: nobody hands in under another's name by writing it into a file."""
    name = copy.source.resolve().name
    for ending in (*ENDINGS, NOTEBOOK):
        name = name.removesuffix(ending)
    notes = copy.all_notes()
    if not copy.files:
        notes.append("nothing was handed in: it is empty")
    notebooks, about_notebooks = read_all(copy.folder, copy.files)
    declared, complaints = _declaration(copy)
    student = declared.get("student")
    if student is not None and student != name:
        notes.append(f"submission.yaml says the student is '{quote(str(student), 60)}'")
    places = declared.get("files", {})
    return OpenedSubmission(
        name=quote(name, 80),
        folder=copy.folder,
        size_bytes=copy.size_bytes,
        files=tuple(copy.files),
        rubric=declared.get("rubric"),
        places={file: PurePosixPath(place.replace("\\", "/")).as_posix() for file, place in places.items()},
        notes=(*notes, *about_notebooks, *complaints),
        notebooks=tuple(notebooks),
    )


def _declaration(copy: _Copy) -> tuple[dict[str, Any], list[str]]:
    """What submission.yaml says, part by part: what cannot be understood is noted, and the rest still counts."""
    path = copy.folder / "submission.yaml"
    if "submission.yaml" not in copy.files:
        return {}, []
    try:
        if path.stat().st_size > MAX_DECLARATION_BYTES:
            raise YamlError(1, f"longer than {MAX_DECLARATION_BYTES} bytes")
        data = read(path.read_text(encoding="utf-8-sig")).data or {}
    except UnicodeDecodeError:
        return {}, ["submission.yaml is not UTF-8 text; it was ignored"]
    except YamlError as error:
        return {}, [f"submission.yaml:{error.line}: {quote(error.cause)}; it was ignored"]
    if not isinstance(data, dict):
        return {}, ["submission.yaml should hold 'rubric:', 'student:' or 'files:'; it was ignored"]
    declared: dict[str, Any] = {}
    complaints = []
    for key, value in data.items():
        match key, value:
            case ("rubric", str()) | ("student", str()):
                declared[key] = value
            case "student", int() | float():
                declared[key] = getattr(value, "text", str(value))
            case "files", dict() if all(isinstance(place, str) for place in value.values()):
                declared[key] = value
            case "rubric" | "student" | "files", _:
                complaints.append(f"submission.yaml: '{key}' is not what it should be; it was ignored")
            case _:
                complaints.append(f"submission.yaml: '{quote(key, 40)}' has no meaning there; it was ignored")
    return declared, complaints
