"""A folder, archive or notebook → a submission: a private copy, bounded, without links; files are found by name."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from grader.errors import Ambiguous, Missing, UsageError, WrongKind
from grader.model import Rubric
from grader.quoting import quote
from grader.rubric.yaml_source import YamlError, as_written, read
from grader.submission.archives import ENDINGS
from grader.submission.copying import Copy, beginning_of
from grader.submission.file_choice import is_course_material, is_nearly, remaining, states, where_the_rest_lies
from grader.submission.notebooks import ENDING as NOTEBOOK
from grader.submission.notebooks import Notebook, parts_holding, read_all, sheets_in

MAX_DECLARATION_BYTES = 16_384
MAX_PAGE = 10_000  # in submission.yaml: no PDF has more
MAX_STUDENTS = 30  # in submission.yaml: no group is larger
MAX_READ_BYTES = 16 * 2**20  # predictions and answers are far below a megabyte

DECLARATION = "submission.yaml"
_ANSWERS = "answers.md"
_MAX_NAMED = 3
_STUDENT_CHARACTERS = 80
_SHEET = re.compile(r"(^|/)answers\.[a-z]+$", re.IGNORECASE)


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
    chosen: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of those that fit a name, what may count
    pages: dict[str, tuple[int, ...]] = field(default_factory=dict)  # where in a PDF parts are, says submission.yaml
    course_material: tuple[str, ...] = ()
    students: tuple[str, ...] = ()  # who handed it in together, says submission.yaml
    student: str = ""  # whose work it is, says submission.yaml: at home nothing else knows

    @property
    def own_files(self) -> tuple[str, ...]:
        return tuple(path for path in self.files if not is_course_material(path, self.course_material))

    def for_rubric(self, rubric: Rubric) -> OpenedSubmission:
        """Itself, with a file for each part of a notebook that holds what the rubric asks a file of code to define, and
        with a choice among files that fit the same name.

        Where there is no sheet of answers, the text of a notebook is one.
        """
        parts, places = {}, dict(self.places)
        own = [one for one in self.notebooks if not is_course_material(one.path, rubric.course_material)]
        if own and not any(_SHEET.search(path) for path in self.files):
            place = places.get(_ANSWERS)
            asked = [notebook for notebook in own if place in (notebook.path, None)]
            parts[_ANSWERS] = tuple(sheets_in(_ANSWERS, asked, self.folder))
            if place is not None and parts[_ANSWERS]:
                places[_ANSWERS] = parts[_ANSWERS][0]
        for file, names in rubric.definitions.items() if own else ():
            place = self.places.get(file)
            asked = [notebook for notebook in own if place in (notebook.path, None)]
            surely = place is None and bool(self._fitting(file))
            parts[file] = tuple(parts_holding(file, names, asked, self.folder, surely=surely))
            if place is not None and parts[file]:
                places[file] = parts[file][0]
        made = dict.fromkeys(part for several in parts.values() for part in several)
        return replace(
            self,
            files=tuple(dict.fromkeys((*self.files, *made))),
            places=places,
            parts=parts,
        )._with_choices(rubric)

    def _with_choices(self, rubric: Rubric) -> OpenedSubmission:
        chosen: dict[str, tuple[str, ...]] = {}
        all_fitting: dict[str, list[str]] = {}
        material: dict[str, str] = {}
        for file in rubric.files_asked:
            names = rubric.definitions.get(file, frozenset())
            fitting = all_fitting[file] = self._fitting(file, anywhere=True)
            own = [path for path in fitting if not is_course_material(path, rubric.course_material)]
            if not own:  # work may be done there, too
                own = [path for path in fitting if not names or "written" in states(self.folder / path, names).values()]
            material |= {path: file for path in fitting if path not in own}
            own = [path for path in own if f"/{path}".endswith((f"/{file}", f"#{file}"))] or own
            chosen[file] = tuple(remaining(file, own, names, self.folder))
        settled = {file: paths[0] for file, paths in chosen.items() if len(paths) == 1}
        for file, paths in chosen.items():
            if len(paths) > 1 and file not in rubric.definitions:
                chosen[file] = tuple(where_the_rest_lies(paths, settled.values()))
        theirs = [
            *(one.path for one in self.notebooks if is_course_material(one.path, rubric.course_material)),
            *material,
        ]
        notes = [f"{_shown(path)} is course material and was passed over" for path in theirs]
        for file, paths in chosen.items():
            others = [path for path in all_fitting[file] if path not in (*paths, *material)]
            if len(paths) == 1 and not f"/{paths[0]}".lower().endswith((f"/{file}".lower(), f"#{file}".lower())):
                notes.append(f"{_shown(paths[0])} was taken for {file}; hand it in under that name")
            if others and len(paths) == 1 and file not in self.places:
                named = ", ".join(_shown(path) for path in others[:_MAX_NAMED])
                notes.append(f"of the files that fit {file}, {_shown(paths[0])} counts, and not {named}")
        if drawn := rubric.per_student.drawn:
            numbers = ", ".join(f"{name} = {value}" for name, value in drawn.items())
            notes.append(f"numbers drawn for {rubric.per_student.student}: {numbers}")
        told = (*self.notes, *notes)
        return replace(self, chosen=chosen, notes=told, course_material=rubric.course_material)

    def _fitting(self, file: str, *, anywhere: bool = False) -> list[str]:
        """Files of this name. File systems that ignore case hand in Attention.py for attention.py; only where nothing
        has the name, what was plainly meant to have it."""
        ending = f"/{file}".lower()
        fitting = [path for path in self.files if f"/{path}".lower().endswith(ending)]
        if not fitting and not self.parts.get(file):
            return [path for path in self.files if is_nearly(path, file)]
        if anywhere:
            return [*fitting, *self.parts.get(file, ())]
        return [path for path in fitting if f"/{path}".endswith(f"/{file}")] or fitting

    def find(self, file: str) -> str:
        """The one file that goes by this name, wherever it lies."""
        if file in self.places:
            place = self.places[file]
            if place not in self.files:
                message = f"submission.yaml says {file} is at {quote(place)}, but nothing is there"
                raise Missing(message, code="wrongly_declared")
            return place
        found: Sequence[str] = self.chosen.get(file, ())
        if not found:
            fitting = [*self._fitting(file), *self.parts.get(file, ())]
            found = () if file in self.chosen else remaining(file, fitting, (), self.folder)
        if not found:
            passed_over = f"; {_shown(fitting[0])} is course material" if fitting else ""
            raise Missing(f"{file} was not handed in{passed_over}", code="file_missing")
        if len(found) > 1:
            named = " and ".join(_shown(path) for path in sorted(found))
            message = f"{file} is there more than once: {named}; keep one, or name it in submission.yaml"
            raise Ambiguous(message, paths=tuple(found), code="several_files")
        return found[0]

    def read(self, file: str) -> bytes:
        path = self.folder / self.find(file)
        if path.stat().st_size > MAX_READ_BYTES:
            raise WrongKind(
                f"{file} is larger than {MAX_READ_BYTES >> 20} MiB, so it was not read", code="file_too_large"
            )
        return path.read_bytes()


def _shown(path: str) -> str:
    return quote(re.sub(r"(?<=\.ipynb)#.*", "", path))


@contextmanager
def open_submission(path: Path) -> Iterator[OpenedSubmission]:
    """Copy a submission to a folder of its own, which goes away afterwards."""
    if not os.path.exists(path):  # Path's own raises where a name is too long
        raise UsageError(f"{quote(str(path))}: there is no such submission{_neighbours(path)}")
    is_file = path.is_file()
    is_archive = is_file and path.name.lower().endswith(ENDINGS)
    is_notebook = is_file and path.name.lower().endswith(NOTEBOOK)
    if is_file and not is_archive and not is_notebook:
        given, folder = quote(str(path)), quote(str(path.parent))
        raise UsageError(f"{given} is a file; give the folder it is in ({folder}), or a .zip, .tar.gz or .ipynb")
    take = Copy.take_archive if is_archive else Copy.take_notebook if is_notebook else Copy.take_folder
    with tempfile.TemporaryDirectory(prefix="grader-submission-") as folder:
        copy = Copy(Path(folder), path)
        take(copy)
        opened = _describe(copy)
        if is_notebook and not opened.notebooks:
            raise UsageError(opened.notes[0])
        yield opened


def _neighbours(path: Path) -> str:
    if not path.parent.is_dir():
        return ""
    names = sorted(quote(entry.name, 40) for entry in path.parent.iterdir() if entry.is_dir())[:12]
    return f"; {quote(str(path.parent))} holds {', '.join(names)}" if names else ""


def _describe(copy: Copy) -> OpenedSubmission:
    """The name is the folder's or archive's: nobody hands in under another's name by writing it into a file."""
    name = copy.source.name
    if name in ("", "..") or copy.source.is_symlink():  # only then another name may stand behind it
        name = copy.source.resolve().name
    for ending in (*ENDINGS, NOTEBOOK):
        name = name.removesuffix(ending)
    notes = copy.all_notes()
    if not copy.files:
        notes.append("nothing was handed in: it is empty")
    notebooks, about_notebooks = read_all(copy.folder, copy.files)
    declared, complaints = _declaration(copy)
    student = declared.get("student")
    if student and student != name:
        notes.append(f"submission.yaml says the student is '{quote(str(student), 60)}'")
    students = declared.get("students", ())
    if students:
        notes.append(f"submission.yaml says it is by {', '.join(students)}")
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
        pages=declared.get("pages", {}),
        students=students,
        student=quote(str(student or "").strip(), _STUDENT_CHARACTERS),
    )


def declaration_of(path: Path) -> dict[str, Any]:
    """What submission.yaml says, read without copying the submission. Empty if it cannot be read: opening says why."""
    try:
        return _parsed_declaration(beginning_of(path, DECLARATION, MAX_DECLARATION_BYTES + 1))[0]
    except Exception:  # archives that are none, files that are missing or locked
        return {}


def _declaration(copy: Copy) -> tuple[dict[str, Any], list[str]]:
    if DECLARATION not in copy.files:
        return {}, []
    with (copy.folder / DECLARATION).open("rb") as stream:
        return _parsed_declaration(stream.read(MAX_DECLARATION_BYTES + 1))


def _parsed_declaration(content: bytes) -> tuple[dict[str, Any], list[str]]:
    """What submission.yaml says, part by part: what cannot be understood is noted, and the rest still counts."""
    try:
        if len(content) > MAX_DECLARATION_BYTES:
            raise YamlError(1, f"longer than {MAX_DECLARATION_BYTES} bytes")
        data = read(content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")).data or {}
    except UnicodeDecodeError:
        return {}, ["submission.yaml is not UTF-8 text; it was ignored"]
    except YamlError as error:
        return {}, [f"submission.yaml:{error.line}: {quote(error.cause)}; it was ignored"]
    if not isinstance(data, dict):
        return {}, [
            "submission.yaml should hold 'rubric:', 'student:' or 'students:', 'files:' or 'pages:'; it was ignored"
        ]
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
            case "pages", dict() if (pages := _pages(value)) is not None:
                declared[key] = pages
            case "students", list() if (students := _students(value)) is not None:
                declared[key] = students
            case "rubric" | "student" | "students" | "files" | "pages", _:
                complaints.append(f"submission.yaml: '{key}' is not what it should be; it was ignored")
            case _:
                complaints.append(f"submission.yaml: '{quote(key, 40)}' has no meaning there; it was ignored")
    return declared, complaints


def _students(declared: list[Any]) -> tuple[str, ...] | None:
    """`[alice, 00123]`: ids, once each; None if it is anything else."""
    if not 0 < len(declared) <= MAX_STUDENTS or not all(map(_is_an_id, declared)):
        return None
    plain = [quote(as_written(one).strip(), _STUDENT_CHARACTERS) for one in declared]
    return tuple(dict.fromkeys(plain)) if all(plain) else None


def _is_an_id(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _pages(declared: dict[Any, Any]) -> dict[str, tuple[int, ...]] | None:
    """`{1.b: 2}` or `{1.b: [2, 3]}`; None if it is anything else. A key such as 1.1 is a number to YAML."""
    found: dict[str, tuple[int, ...]] = {}
    for part, pages in declared.items():
        several = pages if isinstance(pages, list) else [pages]
        if not several or not all(type(page) is int and 0 < page <= MAX_PAGE for page in several):
            return None
        found[str(getattr(part, "text", part)).strip().lower()] = tuple(dict.fromkeys(several))
    return found
