"""The notebooks of a submission, and the files that hold their parts for the box."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from grader.quoting import quote
from grader.submission.notebooks.notebook_cells import Notebook, UnreadableNotebook, read_notebook
from grader.submission.notebooks.parts import DEFINED, Definitions

ENDING = ".ipynb"
MAX_NOTEBOOKS = 20
_MAX_NAME_BYTES = 255  # what Linux's file systems take


def read_all(folder: Path, files: Iterable[str]) -> tuple[list[Notebook], list[str]]:
    """Those that can be read, and what there is to say about them all."""
    names = list(files)
    paths = [file for file in names if file.lower().endswith(ENDING)]
    found, notes = [], []
    for path in paths[:MAX_NOTEBOOKS]:
        try:
            if any("/" in file.removeprefix(f"{path}#") for file in names if file.startswith(f"{path}#")):
                raise UnreadableNotebook("beside a folder that has its name and a # in front; rename that folder")
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
            sheets.append(_part(notebook.path, file))
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
            parts.append(_part(path, PurePosixPath(file).name))
            (folder / parts[-1]).write_text(json.dumps(read[path].part(set(names))), encoding="utf-8")
    return parts


def _part(path: str, file: str) -> str:
    """Where what a notebook holds of a file is written: beside it, under its name as far as a name may go."""
    notebook = PurePosixPath(path)
    name = os.fsencode(notebook.name)
    too_long = len(name) + len(f"#{file}") - _MAX_NAME_BYTES
    if too_long <= 0:
        return f"{path}#{file}"
    mark = f"~{hashlib.sha256(name).hexdigest()[:8]}{ENDING}"  # another may begin with the same
    kept = name[: -too_long - len(mark)].decode("utf-8", "ignore")
    return f"{notebook.with_name(kept + mark)}#{file}"
