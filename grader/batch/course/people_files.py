"""Lists of students as staff have them: a CSV file of their own, or what Canvas, Moodle or Gradescope export.

Which of its columns holds the ids that hand-ins go by is seen from the hand-ins; every bad row is named by its line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from grader.batch.course.lateness import moment
from grader.batch.course.person import Person, folded
from grader.errors import UsageError
from grader.quoting import quote
from grader.report.exports.worksheet import read_text_of_csv, separator_of

_ID_CHARACTERS = 80  # as ids of hand-ins have
_COMPLAINTS = 8  # lines that are named before the rest is counted

# In the order in which they are tried where hand-ins do not tell: what a course calls a student comes first.
_IDS = ("student", "student id", "sid", "sis login id", "sis user id", "login id", "id number", "username", "user name")
_ADDRESSES = ("email", "e-mail", "email address", "e-mail address")
_NUMBERS = ("id", "identifier")  # a platform's own: 4711, "Participant 4711"
_NAMES = ("name", "full name", "student name")
_TIMES = ("time", "handed in", "handed_in", "submission time", "submitted at", "submission date")
_POINTS_POSSIBLE = "points possible"  # Canvas's second row is no student
_AT_THE_END = re.compile(r"\d+$")


@dataclass(frozen=True)
class _Line:
    number: int
    cells: Mapping[str, str]  # by heading


def read_roster(path: Path, known: Collection[str]) -> list[Person]:
    """Everybody in the class; `known` are the ids of hand-ins."""
    file = _PeopleFile(path)
    student = file.ids(known)
    found: dict[str, tuple[int, Person]] = {}
    for line in file.lines:
        person = Person(quote(student(line), _ID_CHARACTERS), quote(_name(line), _ID_CHARACTERS))
        if not person.student:
            file.complain(line, "there is no student in it")
            continue
        first, other = found.setdefault(folded(person.student), (line.number, person))
        if other != person:
            file.complain(line, f"'{person.student}' is in line {first}, too, with another name")
    file.refuse_bad_lines()
    if not found:
        raise UsageError(f"{file.name}: there is nobody in it")
    return [person for _, person in found.values()]


def read_times(path: Path, known: Collection[str]) -> dict[str, str]:
    """When each student handed in, by id. Whoever has no time there did not, or nobody knows."""
    file = _PeopleFile(path)
    student = file.ids(known)
    column = next((name for name in _TIMES if name in file.header), None)
    if column is None:
        raise UsageError(f"{file.name}: no column says when; call it 'time' ({_seen(file.header)})")
    found: dict[str, tuple[int, str]] = {}
    for line in file.lines:
        who, when = student(line), line.cells[column].strip()
        if not who:
            file.complain(line, "there is no student in it")
        elif when:
            try:
                moment(when)
            except UsageError as error:
                file.complain(line, str(error))
                continue
            first, other = found.setdefault(folded(who), (line.number, when))
            if other != when:
                file.complain(line, f"'{quote(who, 60)}' is in line {first}, too, with another time")
    file.refuse_bad_lines()
    return {who: when for who, (_, when) in found.items()}


class _PeopleFile:
    def __init__(self, path: Path) -> None:
        self.name = quote(str(path))
        self._complaints: list[str] = []
        text = read_text_of_csv(path)
        rows = self._rows(text, separator_of(text, self.name))
        _, header = next(rows, (0, []))
        self.header = [" ".join(cell.split()).casefold() for cell in header]
        if not self.header:
            raise UsageError(f"{self.name}: the file is empty")
        self.lines = list(self._lines(rows))

    def _rows(self, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        first = 1
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield first, row
                first = reader.line_num + 1
        except csv.Error as error:
            raise UsageError(f"{self.name}:{reader.line_num}: not CSV: {error}") from None

    def _lines(self, rows: Iterator[tuple[int, list[str]]]) -> Iterator[_Line]:
        for number, row in rows:
            line = _Line(number, dict(zip(self.header, row, strict=False)))
            if len(row) != len(self.header):
                self.complain(line, f"it has {len(row)} cells, the first line {len(self.header)}")
            elif _POINTS_POSSIBLE not in row[0].casefold() and _is_student(line):
                yield line

    def ids(self, known: Collection[str]) -> Callable[[_Line], str]:
        """How a line's student is called in the hand-ins: the way that fits most of them, else the first there is."""
        ways = list(self._ways())
        if not ways:
            raise UsageError(f"{self.name}: no column says who; call it 'student' ({_seen(self.header)})")
        ids = {folded(one) for one in known}
        return max(ways, key=lambda way: sum(folded(way(line)) in ids for line in self.lines))

    def _ways(self) -> Iterator[Callable[[_Line], str]]:
        in_canvas = {"student", "id", "section"} <= set(self.header)  # where 'Student' is a name
        for heading in _IDS:
            if heading in self.header and not (in_canvas and heading == "student"):
                yield partial(_cell, heading)
        for heading in (one for one in _ADDRESSES if one in self.header):
            yield partial(_cell, heading)
            yield partial(_account, heading)
        for heading in (one for one in _NUMBERS if one in self.header):
            yield partial(_number, heading)

    def complain(self, line: _Line, cause: str) -> None:
        self._complaints.append(f"{self.name}:{line.number}: {cause}")

    def refuse_bad_lines(self) -> None:
        if self._complaints:
            more = len(self._complaints) - _COMPLAINTS
            rest = f"\n…and {more} more" if more > 0 else ""
            raise UsageError("\n".join(self._complaints[:_COMPLAINTS]) + f"{rest}\nmend them; nothing was changed")


def _cell(heading: str, line: _Line) -> str:
    return line.cells[heading].strip()


def _account(heading: str, line: _Line) -> str:
    """`ada` of `ada@example.org`."""
    return _cell(heading, line).partition("@")[0]


def _number(heading: str, line: _Line) -> str:
    plain = _cell(heading, line)
    return found[0] if (found := _AT_THE_END.findall(plain)) else plain


def _name(line: _Line) -> str:
    if {"id", "section"} <= line.cells.keys():
        return line.cells.get("student", "")
    whole = next((line.cells[one] for one in _NAMES if one in line.cells), "")
    return whole or " ".join(filter(None, (line.cells.get(one, "") for one in ("first name", "last name"))))


def _is_student(line: _Line) -> bool:
    """Gradescope's roster lists staff, too."""
    return line.cells.get("role", "student").strip().casefold() in ("student", "")


def _seen(header: list[str]) -> str:
    return f"it has {', '.join(quote(one, 40) for one in header[:12])}"
