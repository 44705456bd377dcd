"""A class's reports as they stand in the gradebook now, for exports: the files beside it may be older."""

from __future__ import annotations

from pathlib import Path

from grader.batch.course.class_list import class_list
from grader.batch.course.student_grades import student_grades
from grader.batch.files import file_name
from grader.batch.gradebook import Gradebook
from grader.batch.gradebook_file import NAME
from grader.report.exports.reports import Reports, listed, read_reports, report_from


def reports_in(grades: Path) -> tuple[Reports, tuple[str, ...]]:
    """Those of the gradebook, if the folder has one; else those in its JSON files. And what a TA should know."""
    if not (grades / NAME).is_file():
        return read_reports(grades)
    with Gradebook(grades) as gradebook:
        everybody = class_list(gradebook)
        found = {file_name(one.row.student): report_from(one.data) for one in student_grades(gradebook, everybody)}
    notes = list(everybody.notes())
    if others := [path.name for path in sorted(grades.glob("*.json")) if path.stem not in found]:
        notes.append(f"left out, because the gradebook does not know them: {listed(others)}")
    return found, tuple(notes)
