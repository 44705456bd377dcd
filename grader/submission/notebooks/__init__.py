"""The notebooks of a submission as a place to find definitions and answers in: read and parsed, never run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from grader.quoting import quote
from grader.submission.notebooks.notebook_cells import Notebook, UnreadableNotebook, read_notebook
from grader.submission.notebooks.parts import DEFINED, Definitions

__all__ = ["ENDING", "Notebook", "parts_holding", "read_all", "sheets_in"]

ENDING = ".ipynb"
MAX_NOTEBOOKS = 20
_MAX_NAME_BYTES = 255  # what Linux's file systems take


def read_all(folder: Path, files: Collection[str]) -> tuple[list[Notebook], list[str]]:
    """Those that can be read, and what there is to say about them all."""
    paths = [file for file in files if file.lower().endswith(ENDING)]
    notebooks, notes = [], []
    for path in paths[:MAX_NOTEBOOKS]:
        try:
            if any("/" in file.removeprefix(f"{path}#") for file in files if file.startswith(f"{path}#")):
                raise UnreadableNotebook("beside a folder that has its name and a # in front; rename that folder")
            notebooks.append(read_notebook(folder, path))
        except UnreadableNotebook as error:
            notes.append(f"{quote(path)} cannot be read as a notebook: it is {error}")
    notes += [notebook.note for notebook in notebooks if notebook.note]
    if len(paths) > MAX_NOTEBOOKS:
        notes.append(f"{len(paths) - MAX_NOTEBOOKS} of {len(paths)} notebooks were not read")
    return notebooks, notes


def sheets_in(file: str, notebooks: Iterable[Notebook], folder: Path) -> list[str]:
    """Write, for each notebook with text in it, that text as a sheet of answers; the paths of those sheets."""
    sheets = {_part(notebook.path, file): notebook.text for notebook in notebooks if notebook.text.strip()}
    for path, text in sheets.items():
        (folder / path).write_text(text, encoding="utf-8", errors="replace")
    return list(sheets)


def parts_holding(
    file: str, names: Collection[str], notebooks: Iterable[Notebook], folder: Path, *, surely: bool
) -> list[str]:
    """Write, for each notebook that has any of these names, the part that defines them; the paths of those parts.

    A value assigned to the name may be a function made by a call, or the result of trying one out: it counts
    only where no notebook defines the name, and never where `surely` is asked for: another file holds it, too.
    """
    all_definitions = {_part(one.path, PurePosixPath(file).name): Definitions(one) for one in notebooks}
    levels = {path: max(map(definitions.level, names)) for path, definitions in all_definitions.items()}
    least = DEFINED if surely or DEFINED in levels.values() else 1
    parts = [path for path, level in levels.items() if level >= least]
    for path in parts:
        (folder / path).write_text(json.dumps(all_definitions[path].part(set(names))), encoding="utf-8")
    return parts


def _part(path: str, file: str) -> str:
    """Where what a notebook holds of a file is written: beside it. A name that is too long then is cut and hashed."""
    notebook = PurePosixPath(path)
    if len(os.fsencode(f"{notebook.name}#{file}")) <= _MAX_NAME_BYTES:
        return f"{path}#{file}"
    digest = hashlib.sha256(os.fsencode(notebook.name)).hexdigest()[:8]
    return f"{notebook.with_name(f'{notebook.name[:40]}~{digest}{ENDING}')}#{file}"
