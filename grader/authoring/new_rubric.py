"""`grader new NAME` → NAME/: a rubric with one problem of each kind, samples of every outcome, proved at once.

The template lies beside this file. Its Python files end in `.in`: they are no part of the grader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.rubric_schema import schema_text
from grader.errors import UsageError
from grader.quoting import quote
from grader.rubric.locating import RUBRIC

_TEMPLATE = Path(__file__).parent / "template"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_PLACEHOLDER = re.compile(r"\bNAME\b")
SCHEMA = "schema.json"


def make_rubric(path: Path) -> tuple[Path, list[Path]]:
    """Write a rubric of this name; where it is, and all that was written. UsageError where something is in the way."""
    if not _TEMPLATE.is_dir():
        raise UsageError("rubrics are made with the staff's grader; this one is of a kit for students")
    name = path.name
    if not _NAME.fullmatch(name) or name.endswith((".yaml", ".yml")):
        example = quote(name.removesuffix(".yaml").removesuffix(".yml").replace(" ", "-"), 40)
        raise UsageError(f"'{quote(name, 60)}' is no name for a rubric; write letters, digits and '-', as in {example}")
    if path.exists():
        raise UsageError(f"{path}: it is there already; choose another name, or move it")
    rubric, written = path / RUBRIC, []
    try:
        for target, content in _files(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            written.append(target)
        (path / SCHEMA).write_text(schema_text(rubric), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{error.filename}: it cannot be written: {error.strerror}") from None
    return rubric, [*written, path / SCHEMA]


def _files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for source in sorted(path for path in _TEMPLATE.rglob("*") if path.is_file()):
        place = source.relative_to(_TEMPLATE).as_posix().removesuffix(".in")
        yield folder / place, _PLACEHOLDER.sub(folder.name, source.read_text(encoding="utf-8")).encode()
