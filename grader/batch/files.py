"""What people open: files made from the gradebook, which is the record. They can be thrown away and made again."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.batch.course.class_list import class_list
from grader.batch.course.student_grades import student_grades
from grader.batch.gradebook import Gradebook
from grader.errors import StaffFault
from grader.model import Status
from grader.report.circumstances import SOMETIMES, beside_points
from grader.report.class_page import class_page
from grader.report.class_summary import needed_for_class_page
from grader.report.exports.cells import harmless
from grader.report.html import student_page
from grader.report.indented_json import indented

_RESERVED = ("index", "gradebook")
_LONGEST_NAME_BYTES = 150


class FilesFault(StaffFault):
    """A file could not be written; the gradebook has it all the same."""


@dataclass(frozen=True)
class StudentFiles:
    """One student's report, to be written beside the gradebook."""

    place: Path  # without an ending
    data: dict[str, Any]

    def write(self) -> None:
        _write(self.place, ".json", indented(self.data) + "\n")
        _write(self.place, ".html", student_page(self.data, class_page="./index.html"))


Writing = Callable[[Iterable[StudentFiles]], Iterable[None]]


def _one_by_one(several: Iterable[StudentFiles]) -> Iterator[None]:
    for one in several:
        one.write()
        yield


def write_files(
    gradebook: Gradebook,
    folder: Path,
    one_more: Callable[[], None] = lambda: None,
    writing: Writing = _one_by_one,
) -> int:
    """Every student's report and the class's table and page, as they stand in the gradebook now.

    Only those reports are held that are being written, and of the others what the class's files need. `one_more` is
    called after each student's. Returns how many reports there are.
    """
    rows, reports, pages, titles = [], [], {}, list[str]()
    everybody = class_list(gradebook)

    def of_students() -> Iterator[StudentFiles]:
        for one in student_grades(gradebook, everybody):
            rows.append(_row(one.data, one.row.name))
            reports.append(needed_for_class_page(one.data))
            titles.append(one.data.get("title") or one.data["rubric"])
            if one.is_graded:
                place = file_name(one.row.student)
                pages[one.row.student] = f"{place}.html"
                yield StudentFiles(folder / place, one.data)
            else:
                one_more()

    for _ in writing(of_students()):
        one_more()
    _write(folder / "gradebook", ".csv", as_csv(rows))
    if reports:
        _write(folder / "index", ".html", class_page(reports, titles[0], pages, list(everybody.notes())))
    return len(pages)


def _row(data: dict[str, Any], name: str) -> dict[str, Any]:
    problems, is_graded = data["problems"], "not_graded_yet" not in data
    return {
        "student": data["submission"],
        "name": name,
        "parts": {one["id"]: one["points"] if one["max_points"] and is_graded else "" for one in problems},
        "points": data["points"] if is_graded else "",
        "max_points": data["max_points"],
        **beside_points(data),
        "provisional": "yes" if data["provisional"] else "no",
        "decided": " ".join(one["id"] for one in problems if "decision" in one),
        "ungraded": " ".join(one["id"] for one in problems if one["status"] == Status.UNGRADED),
    }


def file_name(student: str) -> str:
    """A name no file system stumbles over, the id itself where it can be; two ids never share one."""
    plain = re.sub(r"[^\w.@+ -]", "_", student).strip(" ").lstrip(".-") or "_"
    if len(plain.encode()) > _LONGEST_NAME_BYTES:
        plain = plain.encode()[:_LONGEST_NAME_BYTES].decode(errors="ignore")
    if plain == student and plain.lower() not in _RESERVED:
        return plain
    return f"{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"


def as_csv(grades: list[dict[str, Any]]) -> str:
    """One row per student, one column per part, totals; no cell that a spreadsheet would take for a formula."""
    parts = list(dict.fromkeys(part for grade in grades for part in grade["parts"]))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    sometimes = [column for column in SOMETIMES if any(column in grade for grade in grades)]
    after = ("points", "max_points", *sometimes, "provisional", "decided", "ungraded")
    table.writerow(["student", "name", *map(_harmless, parts), *after])
    for grade in grades:
        own = [grade["parts"].get(part, "") for part in parts]
        row = (grade["student"], grade["name"], *own, *(grade.get(column, "") for column in after))
        table.writerow([_harmless(cell) for cell in row])
    return text.getvalue()


def _harmless(cell: Any) -> Any:
    return harmless(cell) if isinstance(cell, str) else cell


def _write(place: Path, ending: str, text: str) -> None:
    """Whole or not at all: a reader never sees half a file, and a full disk leaves the old one."""
    content = text.encode()
    folder, name = os.path.split(f"{place}{ending}")
    whole, partial = os.path.join(folder, name), os.path.join(folder, f".{name}.partial")
    try:
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            while content:  # once, as a rule
                content = content[os.write(file, content) :]
        finally:
            os.close(file)
        os.replace(partial, whole)
    except OSError as error:
        Path(partial).unlink(missing_ok=True)
        reason = f"{whole} cannot be written: {error.strerror}"
        raise FilesFault(f"{reason}; the gradebook has it, and the same command writes it again") from None
