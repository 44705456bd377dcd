"""A CSV file that another program made and will read again: only the cells asked for change."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError
from grader.quoting import quote
from grader.report.exports.reports import ReportData, Reports, listed, ungraded
from grader.rubric.hints import did_you_mean

_BOM = "\ufeff"
_DECIMAL_COMMA = re.compile(r"\d+,\d+")

Row = list[str]
Identity = Callable[[Row], str]  # what a row calls its student, in one of its columns


@dataclass(frozen=True)
class Worksheet:
    name: str
    header: Row
    rows: list[Row]
    delimiter: str
    newline: str
    bom: bool

    def column(self, wanted: str) -> int:
        """The column of this name."""
        if self.header.count(wanted) == 1:
            return self.header.index(wanted)
        why = f"has no column '{quote(wanted, 80)}'" if wanted not in self.header else f"has two columns '{wanted}'"
        raise UsageError(f"{self.name} {why}{did_you_mean(wanted, filter(None, self.header))}")

    def decimal_sign(self, columns: Iterable[int]) -> str:
        """The one that these columns already use. Both programs read either; a spreadsheet in between may not."""
        used = (row[column] for row in self.rows for column in columns)
        return "," if any(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in used) else "."

    def text(self) -> str:
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, delimiter=self.delimiter, lineterminator=self.newline)
        writer.writerows([self.header, *self.rows])
        return (_BOM if self.bom else "") + stream.getvalue()


def read_worksheet(path: Path) -> Worksheet:
    name = quote(str(path))
    text = read_text_of_csv(path)
    bom = path.read_bytes().startswith(_BOM.encode())
    delimiter = separator_of(text, name)
    rows = [row for row in _parsed(io.StringIO(text, newline=""), delimiter, name) if row]
    if not rows:
        raise UsageError(f"{name}: the file is empty")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise UsageError(f"{name}: row {number} has {len(row)} cells, the header {len(rows[0])}; export it again")
    return Worksheet(name, rows[0], rows[1:], delimiter, "\r\n" if "\r\n" in text else "\n", bom)


def read_text_of_csv(path: Path) -> str:
    """Without the mark that spreadsheets put before it."""
    name = quote(str(path))
    try:
        return path.read_bytes().decode("utf-8").removeprefix(_BOM)
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name}: not UTF-8; export it again, or save it as 'CSV UTF-8'") from None


def separator_of(text: str, name: str) -> str:
    """What cells are apart by, as the first line shows."""
    return max(",;\t", key=lambda sign: len(next(iter(_parsed(text.splitlines()[:1], sign, name)), [])))


def _parsed(lines: Iterable[str], delimiter: str, name: str) -> list[Row]:
    try:
        return list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise UsageError(f"{name}: not CSV: {error}") from None


def read_match(path: Path) -> dict[str, str]:
    """`student,id`: what the grader calls someone, and what the other program does."""
    sheet = read_worksheet(path)
    if [name.strip().lower() for name in sheet.header] != ["student", "id"]:
        raise UsageError(f"{sheet.name}: the first row should be 'student,id'")
    ids: dict[str, str] = {}
    for student, other in sheet.rows:
        if ids.setdefault(student.strip(), other.strip()) != other.strip():
            raise UsageError(f"{sheet.name}: '{quote(student, 60)}' is there twice, with different ids")
    return ids


def cell(place: int) -> Identity:
    return lambda row: row[place]


def account(place: int) -> Identity:
    """`ada` of `ada@example.org`: grader ids are often the names of accounts."""
    return lambda row: row[place].partition("@")[0] if "@" in row[place] else ""


def differing(maximum: str, report: ReportData) -> str:
    """A remark if the column is not out of the points that the report is out of."""
    try:
        same = float(maximum.replace(",", ".")) == report["max_points"]
    except ValueError:
        return ""
    return "" if same else f"the column is out of {quote(maximum, 20)}, the report out of {report['max_points']}"


def fill(
    people: Sequence[Row],
    identities: Sequence[Identity],
    reports: Reports,
    ids: Mapping[str, str],
    write: Callable[[Row, ReportData], str],
) -> list[str]:
    """Write each graded student's row. Returns what the TA should know, a line each; `write` may add to that."""
    found, notes = _rows_of({student: ids.get(student, student) for student in reports}, people, identities)
    left = {student: f"{student} ({', '.join(parts)})" for student in found if (parts := ungraded(reports[student]))}
    disputed = [student for student in found if "disputed" in reports[student]]
    if disputed:
        notes.append(f"left as it was, because it was handed in more than once: {listed(disputed)}")
    if left:
        notes.append(f"left as it was, because something is ungraded: {listed(list(left.values()))}")
    graded = {student: number for student, number in found.items() if student not in (*left, *disputed)}
    said = {student: write(people[number], reports[student]) for student, number in graded.items()}
    for remark in dict.fromkeys(filter(None, said.values())):
        notes.append(f"{remark}: {listed([student for student, other in said.items() if other == remark])}")
    if provisional := [student for student in graded if reports[student]["provisional"]]:
        notes.append(f"provisional, a person has still to look: {listed(provisional)}")
    filled = set(found.values())
    without = [row for number, row in enumerate(people) if number not in filled]
    if without:
        notes.append(f"rows without a report: {listed([_called(row, identities) for row in without])}")
    return notes


def _rows_of(
    ids: Mapping[str, str], people: Sequence[Row], identities: Sequence[Identity]
) -> tuple[dict[str, int], list[str]]:
    """Each student's row. Where two fit, or two students claim one, nobody's mark is guessed."""
    indexes = [_index(people, identity) for identity in identities]
    found: dict[str, int] = {}
    unclear: list[str] = []
    for student, own in ids.items():
        fitting = next((rows for index in indexes if (rows := index.get(_folded(own)))), [])
        if len(fitting) == 1:
            found[student] = fitting[0]
        elif fitting:
            unclear.append(student)
    claims = Counter(found.values())
    shared = [student for student, number in found.items() if claims[number] > 1]
    missing = [student for student in ids if student not in found and student not in unclear]
    notes = []
    if unclear:
        notes.append(f"more than one row fits, so none was filled: {listed(unclear)}")
    if shared:
        notes.append(f"several reports fit one row, so none was written: {listed(shared)}")
    if missing:
        notes.append(f"reports without a row: {listed(missing)}")
    found = {student: number for student, number in found.items() if student not in shared}
    if not found:
        raise UsageError(f"no report fits a row; give --match a file of student,id ({'; '.join(notes)})")
    return found, notes


def _index(people: Sequence[Row], identity: Identity) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for number, row in enumerate(people):
        if name := _folded(identity(row)):
            index.setdefault(name, []).append(number)
    return index


def _folded(name: str) -> str:
    return name.strip().casefold()


def _called(row: Row, identities: Sequence[Identity]) -> str:
    return next((name for identity in identities if (name := identity(row).strip())), "a row without a name")
