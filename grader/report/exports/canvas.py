"""Grades into a gradebook that Canvas exported, to be imported there again.

Columns and rows as `lib/gradebook_exporter.rb` of instructure/canvas-lms writes them and `lib/gradebook_importer.rb`
reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.errors import UsageError
from grader.quoting import quote
from grader.report.exports.reports import Exported, ReportData, Reports
from grader.report.exports.worksheet import Row, Worksheet, account, cell, differing, fill
from grader.rubric.hints import did_you_mean

_IDENTITIES = ("ID", "SIS User ID", "SIS Login ID")  # in the order Canvas itself tries them
_POINTS_POSSIBLE = "Points Possible"
_TITLE_WITH_ID = re.compile(r"(?P<title>.*) \((?P<id>\d+)\)")
_NO_STUDENT = re.compile(r"\s*(Muted|Manual Posting.*)?\s*", re.IGNORECASE)
_KEPT = {"EX": "excused in Canvas, so left as it was", "N/A": "not assigned in Canvas, so left as it was"}


def canvas(reports: Reports, gradebook: Worksheet, column: str, ids: Mapping[str, str]) -> Exported:
    place = _assignment(gradebook, column)
    columns = [gradebook.header.index(name) for name in _IDENTITIES if name in gradebook.header]
    identities = [*map(cell, columns), account(columns[-1])]
    possible = [row for row in gradebook.rows if _POINTS_POSSIBLE in row[0]]
    people = [
        row for row in gradebook.rows if _POINTS_POSSIBLE not in row[0] and not all(map(_NO_STUDENT.fullmatch, row))
    ]
    maximum = possible[0][place].strip() if possible else ""
    sign = gradebook.decimal_sign([place])

    def write(row: Row, report: ReportData) -> str:
        if kept := _KEPT.get(row[place].strip().upper()):
            return kept
        row[place] = str(report["points"]).replace(".", sign)
        return differing(maximum, report)

    notes = fill(people, identities, reports, ids, write)
    return Exported({"canvas.csv": gradebook.text()}, tuple(notes))


def _assignment(gradebook: Worksheet, wanted: str) -> int:
    """The column of an assignment, by its heading, its title or its number in Canvas."""
    header = gradebook.header
    if "ID" not in header or "Section" not in header:
        raise UsageError(f"{gradebook.name} is no Canvas gradebook: it has no 'ID' and 'Section' columns")
    places = range(header.index("Section") + 1, len(header))
    exact = [place for place in places if header[place] == wanted]
    fitting = exact or [place for place in places if wanted and wanted in _names(header[place])]
    if len(fitting) > 1:
        named = " and ".join(f"'{quote(header[place], 80)}'" for place in fitting)
        raise UsageError(f"{gradebook.name}: '{quote(wanted, 80)}' may be {named}; give --column in full")
    open_columns = [place for place in places if not _read_only(gradebook, place)]
    if not fitting:
        what = f"has no column '{quote(wanted, 80)}'" if wanted else "needs --column, the assignment's"
        raise UsageError(f"{gradebook.name} {what}{did_you_mean(wanted, [header[place] for place in open_columns])}")
    if fitting[0] not in open_columns:
        raise UsageError(f"{gradebook.name}: Canvas computes '{quote(wanted, 80)}' itself and reads nothing from it")
    return fitting[0]


def _names(heading: str) -> tuple[str, ...]:
    parts = _TITLE_WITH_ID.fullmatch(heading)
    return (parts["title"], parts["id"]) if parts else ()


def _read_only(gradebook: Worksheet, place: int) -> bool:
    return any(_POINTS_POSSIBLE in row[0] and "read only" in row[place] for row in gradebook.rows)
