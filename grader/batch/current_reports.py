"""A class's reports as they stand in the gradebook now, for exports: the files beside it may be older."""

from __future__ import annotations

from pathlib import Path

from grader.batch.files import file_name
from grader.batch.gradebook import Gradebook
from grader.batch.gradebook_file import NAME
from grader.batch.grades import current_grade
from grader.report.exports.reports import Reports, listed, read_reports, report_from


def reports_in(grades: Path) -> tuple[Reports, tuple[str, ...]]:
    """Those of the gradebook, if the folder has one; else those in its JSON files. And what a TA should know."""
    if not (grades / NAME).is_file():
        return read_reports(grades)
    with Gradebook(grades) as gradebook:
        found = {file_name(one.student): report_from(current_grade(gradebook, one)) for one in gradebook.everyone()}
    others = [path.name for path in sorted(grades.glob("*.json")) if path.stem not in found]
    return found, (f"left out, because the gradebook does not know them: {listed(others)}",) if others else ()
