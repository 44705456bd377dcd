"""A folder, archive or notebook → a submission: a private copy, bounded, without links; files are found by name."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.errors import Ambiguous, Missing, UsageError, WrongKind
from grader.model import Rubric
from grader.quoting import quote
from grader.submission.archives import ENDINGS
from grader.submission.copying import Copy
from grader.submission.declaration import DECLARATION, MAX_DECLARATION_BYTES, Declaration, parse_declaration
from grader.submission.file_choice import is_course_material, is_nearly, remaining, states, where_the_rest_lies
from grader.submission.notebooks import ENDING as NOTEBOOK
from grader.submission.notebooks import Notebook, parts_holding, read_all, sheets_in

MAX_READ_BYTES = 16 * 2**20  # predictions and answers are far below a megabyte

_ANSWERS = "answers.md"
_MAX_NAMED = 3
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
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)  # what notebooks hold of the files asked for
    chosen: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of those that fit a name, what may count
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
        has_sheet = any(_SHEET.search(path) for path in self.files)
        for file in (*rubric.definitions, *(() if has_sheet else (_ANSWERS,))) if own else ():
            place = places.get(file)
            asked = [notebook for notebook in own if place in (notebook.path, None)]
            if file == _ANSWERS:
                parts[file] = sheets_in(file, asked, self.folder)
            else:
                surely = place is None and bool(self._fitting(file))
                parts[file] = parts_holding(file, rubric.definitions[file], asked, self.folder, surely=surely)
            if place is not None and parts[file]:
                places[file] = parts[file][0]
        made = (part for several in parts.values() for part in several)
        files = tuple(dict.fromkeys((*self.files, *made)))
        return replace(self, files=files, places=places, parts=parts)._with_choices(rubric)

    def _with_choices(self, rubric: Rubric) -> OpenedSubmission:
        chosen: dict[str, list[str]] = {}
        material = {one.path for one in self.notebooks if is_course_material(one.path, rubric.course_material)}
        for file in rubric.files_asked:
            names = rubric.definitions.get(file, frozenset())
            fitting = self._fitting(file)
            own = [path for path in fitting if not is_course_material(path, rubric.course_material)]
            if not own:  # work may be done there, too
                own = [path for path in fitting if not names or "written" in states(self.folder / path, names).values()]
            material.update(set(fitting) - set(own))
            chosen[file] = remaining(file, _spelled(file, own), names, self.folder)
        settled = [paths[0] for paths in chosen.values() if len(paths) == 1]
        for file, paths in chosen.items():
            if len(paths) > 1 and file not in rubric.definitions:
                chosen[file] = where_the_rest_lies(paths, settled)
        notes = [f"{_shown(path)} is course material and was passed over" for path in sorted(material)]
        for file, (path, *more) in ((file, paths) for file, paths in chosen.items() if paths):
            if more:
                continue
            if not f"/{path}".lower().endswith((f"/{file}".lower(), f"#{file}".lower())):
                notes.append(f"{_shown(path)} was taken for {file}; hand it in under that name")
            others = [_shown(other) for other in self._fitting(file) if other != path and other not in material]
            if others and file not in self.places:
                named = ", ".join(others[:_MAX_NAMED])
                notes.append(f"of the files that fit {file}, {_shown(path)} counts, and not {named}")
        if drawn := rubric.per_student.drawn:
            numbers = ", ".join(f"{name} = {value}" for name, value in drawn.items())
            notes.append(f"numbers drawn for {rubric.per_student.student}: {numbers}")
        return replace(self, chosen=chosen, notes=(*self.notes, *notes), course_material=rubric.course_material)

    def _fitting(self, file: str) -> list[str]:
        """Files of this name, in whatever case: file systems that ignore it hand in Attention.py for attention.py. Only
        where nothing has the name, what was plainly meant to have it."""
        ending = f"/{file}".lower()
        fitting = [path for path in self.files if f"/{path}".lower().endswith(ending)]
        fitting += self.parts.get(file, ())
        return fitting or [path for path in self.files if is_nearly(path, file)]

    def find(self, file: str) -> str:
        """The one file that goes by this name, wherever it lies."""
        if file in self.places:
            place = self.places[file]
            if place not in self.files:
                message = f"submission.yaml says {file} is at {quote(place)}, but nothing is there"
                raise Missing(message, code="wrongly_declared")
            return place
        found = self.chosen.get(file)
        if found is None:
            found = remaining(file, _spelled(file, self._fitting(file)), (), self.folder)
        if not found:
            fitting = self._fitting(file)
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
            message = f"{file} is larger than {MAX_READ_BYTES >> 20} MiB, so it was not read"
            raise WrongKind(message, code="file_too_large")
        return path.read_bytes()


def _spelled(file: str, paths: list[str]) -> list[str]:
    """Of files that fit the name, those that have it letter for letter, where there are any."""
    return [path for path in paths if f"/{path}".endswith((f"/{file}", f"#{file}"))] or paths


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
    declared, complaints = Declaration(), list[str]()
    if DECLARATION in copy.files:
        with (copy.folder / DECLARATION).open("rb") as stream:
            declared, complaints = parse_declaration(stream.read(MAX_DECLARATION_BYTES + 1))
    if declared.student and declared.student != name:
        notes.append(f"submission.yaml says the student is '{quote(declared.student, 60)}'")
    if declared.students:
        notes.append(f"submission.yaml says it is by {', '.join(declared.students)}")
    notebooks, about_notebooks = read_all(copy.folder, copy.files)
    return OpenedSubmission(
        name=quote(name, 80),
        folder=copy.folder,
        size_bytes=copy.size_bytes,
        files=tuple(copy.files),
        rubric=declared.rubric or None,
        places=declared.files,
        notes=(*notes, *about_notebooks, *complaints),
        notebooks=tuple(notebooks),
        pages=declared.pages,
        students=declared.students,
        student=declared.student,
    )
