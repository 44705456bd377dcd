"""Grades and feedback into the grading worksheet of a Moodle assignment, to be uploaded there again.

https://docs.moodle.org/401/en/Assignment_settings (feedback type "offline grading worksheet"); for what it leaves
open, `mod/assign/feedback/offline` of moodle/moodle. Moodle takes feedback for HTML, so it is written as such.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from grader.report.exports.cells import harmless
from grader.report.exports.reports import (
    Exported,
    ReportData,
    Reports,
    above,
    decided_by,
    listed,
    one_line,
    out_of,
    remarks,
    total,
    unpassed,
)
from grader.report.exports.worksheet import Identity, Row, Worksheet, account, cell, differing, fill

GRADE_COLUMN, FEEDBACK_COLUMN = "Grade", "Feedback comments"  # in English; a worksheet speaks its site's language
_MAXIMUM_COLUMN = "Maximum Grade"
_NAMES = ("ID number", "Username", "Full name")
_NUMBER_AT_THE_END = re.compile(r"\d+$")


def moodle(
    reports: Reports, worksheet: Worksheet, column: str, ids: Mapping[str, str], feedback_column: str = FEEDBACK_COLUMN
) -> Exported:
    place = worksheet.column(column or GRADE_COLUMN)
    headings = {name: number for number, name in enumerate(worksheet.header)}
    feedback, maximum = headings.get(feedback_column), headings.get(_MAXIMUM_COLUMN)
    if feedback is None and feedback_column != FEEDBACK_COLUMN:
        worksheet.column(feedback_column)
    sign = worksheet.decimal_sign([place] if maximum is None else [place, maximum])

    def write(row: Row, report: ReportData) -> str:
        row[place] = str(report["points"]).replace(".", sign)
        if feedback is not None:
            row[feedback] = harmless(as_html(report))
        return "" if maximum is None else differing(row[maximum], report)

    notes = fill(worksheet.rows, _identities(worksheet), reports, ids, write)
    if over := above(reports):
        notes.append(
            f"above the maximum, where Moodle drops them unless its site allows it; --cap caps them: {listed(over)}"
        )
    if feedback is None:
        notes.append(f"no feedback was written: there is no column '{FEEDBACK_COLUMN}'; --feedback-column names it")
    return Exported({"moodle.csv": worksheet.text()}, tuple(notes))


def as_html(report: ReportData) -> str:
    """Feedback in one line of HTML, in which students' words are text."""
    items = [
        *(f"{one['id']} ({out_of(one)}): {decided}" for one in report["problems"] if (decided := decided_by(one))),
        *(
            f"{problem['id']} {check['id']} ({check['status']}, {out_of(check)}): {one_line(check['message'])}"
            for problem in report["problems"]
            for check in unpassed(problem)
        ),
        *remarks(report),
    ]
    listed = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<p>{total(report)} points</p>" + (f"<ul>{listed}</ul>" if listed else "")


def _identities(worksheet: Worksheet) -> list[Identity]:
    """Moodle's own number ("Participant 123") stands first in any language; then addresses, then names."""
    columns = range(1, len(worksheet.header))
    addresses = [number for number in columns if any("@" in row[number] for row in worksheet.rows)]
    named = [worksheet.header.index(name) for name in _NAMES if name in worksheet.header]
    return [
        cell(0),
        lambda row: found[0] if (found := _NUMBER_AT_THE_END.findall(row[0])) else "",
        *map(cell, addresses),
        *map(account, addresses),
        *map(cell, named),
    ]
