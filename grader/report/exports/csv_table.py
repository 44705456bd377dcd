"""One row per student, one column per part: for any spreadsheet."""

from __future__ import annotations

import csv
import io

from grader.report.circumstances import SOMETIMES, beside_points
from grader.report.exports.cells import harmless
from grader.report.exports.reports import Reports, one_line, ungraded


def csv_table(reports: Reports) -> str:
    parts = list(dict.fromkeys(problem["id"] for report in reports.values() for problem in report["problems"]))
    stream = io.StringIO(newline="")
    # All text is quoted: a reader that splits at semicolons must not find a cell of its own inside ours.
    writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC)
    beside = {student: beside_points(report) for student, report in reports.items()}
    more = [column for column in SOMETIMES if any(column in found for found in beside.values())]
    header = ["student", "points", "max_points", *more, "provisional", "ungraded", "decided"]
    writer.writerow([*header, *map(harmless, parts)])
    for student, report in reports.items():
        points = {problem["id"]: problem["points"] for problem in report["problems"]}
        open_parts = ungraded(report)
        writer.writerow(
            [
                harmless(one_line(student)),
                "" if "not_graded_yet" in report else report["points"],
                report["max_points"],
                *(harmless(value) if isinstance(value := beside[student].get(one, ""), str) else value for one in more),
                "yes" if report["provisional"] else "no",
                " ".join(open_parts),
                " ".join(problem["id"] for problem in report["problems"] if "decision" in problem),
                *("" if part in open_parts else points.get(part, "") for part in parts),
            ]
        )
    return stream.getvalue()
