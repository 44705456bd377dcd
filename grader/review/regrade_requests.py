"""Requests to look again, as a table: student, part, text. Every bad row is named by its line, before any is kept."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.batch.course.class_list import class_list
from grader.batch.gradebook import Gradebook
from grader.errors import UsageError
from grader.quoting import quote
from grader.rubric.hints import did_you_mean

COLUMNS = ("student", "part", "text")
MAX_BYTES = 16 << 20  # of the whole file: a class does not write more
MAX_CHARACTERS = 10_000  # of one request: two pages
_FAULTS_SHOWN = 20

Wanted = tuple[str, str, str]


def read_requests(path: Path, gradebook: Gradebook) -> list[Wanted]:
    """Every row, if every row is good; else one fault that names the others by their lines."""
    parts: dict[str, list[str]] = {}
    for state in gradebook.decisions.states():
        parts.setdefault(state.student, []).append(state.part)
    # Whoever handed in with others asks about the group's work, which is decided once.
    behind = {row.student: row.hand_ins[0] for row in class_list(gradebook).rows if len(row.hand_ins) == 1}
    wanted: list[Wanted] = []
    faults: list[str] = []
    for line, row in _rows(path):
        student, part, text = (row[column].strip() for column in COLUMNS)
        student = behind.get(student, student)
        if fault := _fault(student, part, text, parts):
            faults.append(f"line {line}: {fault}")
        else:
            wanted.append((student, part, text))
    if faults:
        more = f"; and {len(faults) - _FAULTS_SHOWN} more" if len(faults) > _FAULTS_SHOWN else ""
        listed = "; ".join(faults[:_FAULTS_SHOWN])
        raise UsageError(f"{path}: {listed}{more}; nothing was imported: mend these rows and import the file again")
    if not wanted:
        raise UsageError(f"{path}: it holds no request below its header")
    return wanted


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """With the line each begins at; a text may hold line breaks."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: it is not UTF-8; save it as CSV UTF-8") from None
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(table, [])]
        if missing := [name for name in COLUMNS if name not in header]:
            found = quote(", ".join(header), 80) or "nothing"
            raise UsageError(
                f"{path}: its first line names the columns {', '.join(COLUMNS)}; "
                f"{missing[0]} is missing, and it has {found}"
            )
        places = {name: header.index(name) for name in COLUMNS}
        begins = table.line_num + 1
        for row in table:
            if any(cell.strip() for cell in row):
                yield begins, {name: row[place] if place < len(row) else "" for name, place in places.items()}
            begins = table.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{path}: line {table.line_num}: {error}") from None


def _near(student: str, known: Iterable[str]) -> str:
    """A name like it, if there is one: a class is too long to be listed."""
    hint = did_you_mean(student, known)
    return hint if hint.startswith("; did") else ""


def _fault(student: str, part: str, text: str, parts: dict[str, list[str]]) -> str:
    if student not in parts:
        if not student:
            return "there is no student"
        return f"the gradebook has no student '{quote(student, 60)}'{_near(student, parts)}"
    if part not in parts[student]:
        return f"{student} has no part '{quote(part, 40)}'{did_you_mean(part, parts[student])}"
    if not text:
        return "the text is empty: what should be looked at again?"
    if len(text) > MAX_CHARACTERS:
        return f"the text has {len(text)} characters; at most {MAX_CHARACTERS} are read"
    return ""
