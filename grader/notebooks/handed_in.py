"""The notebooks of a submission, and the files that hold their parts for the box."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from grader.notebooks.parts import DEFINED, Definitions
from grader.notebooks.reading import Notebook, UnreadableNotebook, read_notebook
from grader.quoting import quote

ENDING = ".ipynb"
MAX_NOTEBOOKS = 20
_LONGEST_NAME_BYTES = 255  # on every file system of Linux
_KEPT_NAME_BYTES = 120


def read_all(folder: Path, files: Iterable[str]) -> tuple[list[Notebook], list[str]]:
    """Those that can be read, and what there is to say about them all."""
    paths = [file for file in files if file.lower().endswith(ENDING)]
    found, notes = [], []
    for path in paths[:MAX_NOTEBOOKS]:
        try:
            notebook = read_notebook(folder, path)
        except UnreadableNotebook as error:
            notes.append(f"{quote(path)} cannot be read as a notebook: it is {error}")
        else:
            found.append(notebook)
            notes += [notebook.note] if notebook.note else []
    if len(paths) > MAX_NOTEBOOKS:
        notes.append(f"{len(paths) - MAX_NOTEBOOKS} of {len(paths)} notebooks were not read")
    return found, notes


def sheets_in(file: str, notebooks: Iterable[Notebook], folder: Path) -> list[str]:
    """Write, for each notebook with text in it, that text as a sheet of answers; the paths of those sheets."""
    sheets = []
    for notebook in notebooks:
        if notebook.text.strip():
            sheets.append(_made_of(notebook.path, file))
            (folder / sheets[-1]).write_text(notebook.text, encoding="utf-8", errors="replace")
    return sheets


def parts_holding(
    file: str, names: Collection[str], notebooks: Iterable[Notebook], folder: Path, *, surely: bool
) -> list[str]:
    """Write, for each notebook that has any of these names, the part that defines them; the paths of those parts.

    A value assigned to the name may be a function made by a call, or the result of trying one out: it counts
    only where no notebook defines the name, and never where `surely` is asked for: another file holds it, too.
    """
    read = {notebook.path: Definitions(notebook) for notebook in notebooks}
    levels = {path: max(map(definitions.level, names)) for path, definitions in read.items()}
    least = DEFINED if surely or DEFINED in levels.values() else 1
    parts = []
    for path, level in levels.items():
        if level >= least:
            parts.append(_made_of(path, PurePosixPath(file).name))
            (folder / parts[-1]).write_text(json.dumps(read[path].part(set(names))), encoding="utf-8")
    return parts


def _made_of(notebook: str, file: str) -> str:
    """Where this file's part of a notebook goes: beside it, called after it as far as a file's name may be long."""
    place = PurePosixPath(notebook)
    if len(f"{place.name}#{file}".encode()) > _LONGEST_NAME_BYTES:
        kept = place.name.encode()[:_KEPT_NAME_BYTES].decode(errors="ignore")
        place = place.with_name(f"{kept}-{hashlib.sha256(notebook.encode()).hexdigest()[:8]}{ENDING}")
    return f"{place}#{file}"
