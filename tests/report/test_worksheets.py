"""Canvas's and Moodle's own files, filled: their readers find each grade, and nothing else has changed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from grader.errors import UsageError
from grader.report.exports.canvas import canvas
from grader.report.exports.moodle import moodle
from grader.report.exports.reports import Exported
from grader.report.exports.worksheet import read_match, read_worksheet
from tests.in_process import command as grader
from tests.report.test_exports import HOSTILE, SCHEMAS, check, report


def graded(points: float, out_of: float = 20, **more: Any) -> Any:
    return report(check("partial", points=points, out_of=out_of), **more)


def into_canvas(reports: Any, column: str = "Homework 3", ids: Any = None, file: str = "canvas.csv") -> Exported:
    return canvas(reports, read_worksheet(SCHEMAS / file), column, ids or {})


def into_moodle(reports: Any, column: str = "", ids: Any = None, file: str = "moodle.csv", **more: Any) -> Exported:
    return moodle(reports, read_worksheet(SCHEMAS / file), column, ids or {}, **more)


def table(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter))


def text_of(exported: Exported) -> str:
    return next(iter(exported.texts.values()))


def as_canvas_reads(text: str) -> dict[str, str]:
    """Homework 3 by student id, by the rules of lib/gradebook_importer.rb in instructure/canvas-lms: the header begins
    with Student and ID, Section stands before the assignments, a column is known by the id in its heading."""
    header, *rows = table(text)
    assert header[0].startswith("Student")
    assert header[1] == "ID"
    assert header[4] == "Section"
    column = next(number for number, name in enumerate(header) if name.endswith("(71)"))
    people = [row for row in rows if "Points Possible" not in row[0] and row[1]]
    return {row[1]: row[column] for row in people}


def as_moodle_reads(text: str) -> dict[str, tuple[str, str]]:
    """Grade and feedback by participant, by the rules of mod/assign/feedback/offline/importgradeslib.php in
    moodle/moodle: three columns must be there under their names, the participant's number ends the identifier."""
    header, *rows = table(text)
    grade, own, _ = (header.index(name) for name in ("Grade", "Identifier", "Last modified (grade)"))
    feedback = header.index("Feedback comments")
    return {row[own].removeprefix("Participant "): (row[grade], row[feedback]) for row in rows}


def changed(before: Path, after: str, delimiter: str = ",") -> list[tuple[int, int]]:
    old, new = table(before.read_text(encoding="utf-8"), delimiter), table(after, delimiter)
    assert [len(row) for row in old] == [len(row) for row in new]
    return [(r, c) for r, row in enumerate(old) for c, cell in enumerate(row) if cell != new[r][c]]


def test_canvas_finds_each_grade_and_nothing_else_has_changed() -> None:
    exported = into_canvas({"101": graded(17.5), "S-BEN": graded(12), "mal@uni.example": graded(0)})
    text = text_of(exported)
    assert as_canvas_reads(text) == {"101": "17.5", "102": "12", "103": "EX", "104": "0", "105": ""}
    assert changed(SCHEMAS / "canvas.csv", text) == [(3, 6), (4, 6), (6, 6)]
    assert text.startswith("\ufeffStudent,ID,")
    assert "\n    Points Possible," in text
    assert text.count("\r\n") == text.count("\n") == 8
    assert exported.notes == ("rows without a report: 103, 105",)


@pytest.mark.parametrize("column", ["Homework 3 (71)", "Homework 3", "71"])
def test_a_canvas_column_goes_by_heading_title_or_number(column: str) -> None:
    assert as_canvas_reads(text_of(into_canvas({"ada": graded(3)}, column)))["101"] == "3"


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("Homwork 3", "has no column 'Homwork 3'; did you mean 'Homework 3 (71)'?"),
        ("Current Score", "Canvas computes 'Current Score' itself"),
        ("", "needs --column"),
        ("SIS User ID", "has no column 'SIS User ID'"),
    ],
)
def test_a_wrong_canvas_column_is_one_clear_line(column: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        into_canvas({"ada": graded(3)}, column)
    assert said in str(error.value)


def test_excused_stays_excused() -> None:
    exported = into_canvas({"103": graded(20), "101": graded(1)})
    assert as_canvas_reads(text_of(exported))["103"] == "EX"
    assert "excused in Canvas, so left as it was: 103" in exported.notes


def test_ungraded_writes_nothing_and_is_said() -> None:
    broken = report(check("ungraded", out_of=20), status="ungraded")
    exported = into_canvas({"104": broken, "101": graded(1)})
    assert as_canvas_reads(text_of(exported))["104"] == "3.00"  # what was there before
    assert "left as it was, because something is ungraded: 104 (2.1)" in exported.notes


def test_nobodys_mark_is_guessed() -> None:
    exported = into_canvas({"ada": graded(1), "101": graded(2), "102": graded(3), "zoe": graded(4)})
    assert as_canvas_reads(text_of(exported)) == {"101": "", "102": "3", "103": "EX", "104": "3.00", "105": ""}
    assert "several reports fit one row, so none was written: ada, 101" in exported.notes
    assert "reports without a row: zoe" in exported.notes


def test_a_match_file_says_who_is_who(tmp_path: Path) -> None:
    file = tmp_path / "match.csv"
    file.write_text("\ufeffstudent;id\r\nzoe;102\r\nabsent;999\r\n", newline="")
    exported = into_canvas({"zoe": graded(4)}, ids=read_match(file))
    assert as_canvas_reads(text_of(exported))["102"] == "4"
    file.write_text("zoe,102\n")
    with pytest.raises(UsageError, match="the first row should be 'student,id'"):
        read_match(file)


def test_another_maximum_is_said() -> None:
    exported = into_canvas({"101": graded(30, out_of=60), "102": graded(1)})
    assert "the column is out of 20.00, the report out of 60: 101" in exported.notes


def test_moodle_finds_grade_and_feedback() -> None:
    exported = into_moodle({"9001": graded(17.5), "ben@uni.example": report(check("failed", HOSTILE, out_of=20))})
    read = as_moodle_reads(text_of(exported))
    assert read["9001"][0] == "17.5"
    assert read["9001"][1].startswith(
        "<p>17.5 / 20 points</p><ul><li>2.1 is_partial (partial, 17.5 / 20): it is partial"
    )
    assert "&lt;script&gt;" in read["9002"][1]
    assert "<script>" not in read["9002"][1]
    assert read["9003"] == ("", "")
    assert changed(SCHEMAS / "moodle.csv", text_of(exported)) == [(1, 4), (1, 9), (2, 4), (2, 9)]
    assert exported.notes == ("rows without a report: Participant 9003",)


@pytest.mark.parametrize("student", ["Participant 9001", "9001", "ada@uni.example", "ada", "Ada Lovelace", " ADA "])
def test_moodle_knows_people_by_number_address_or_name(student: str) -> None:
    assert as_moodle_reads(text_of(into_moodle({student: graded(5)})))["9001"][0] == "5"


def test_a_german_worksheet_keeps_its_semicolons_and_commas() -> None:
    exported = into_moodle(
        {"9001": graded(17.5), "ben": graded(3)},
        "Bewertung",
        file="moodle-german.csv",
        feedback_column="Feedback als Kommentar",
    )
    text = text_of(exported)
    rows = table(text, ";")
    assert [row[4] for row in rows[1:]] == ["17,5", "3"]
    assert rows[1][9].startswith("<p>17.5 / 20 points</p>")
    assert changed(SCHEMAS / "moodle-german.csv", text, ";") == [(1, 4), (1, 9), (2, 4), (2, 9)]
    assert text.startswith("\ufeffID;")
    assert text.count("\r\n") == 3


def test_without_a_feedback_column_the_grades_are_still_written() -> None:
    exported = into_moodle({"9001": graded(1)}, "Bewertung", file="moodle-german.csv")
    assert any(note.startswith("no feedback was written") for note in exported.notes)
    with pytest.raises(UsageError, match="did you mean 'Feedback als Kommentar'"):
        into_moodle({"9001": graded(1)}, "Bewertung", file="moodle-german.csv", feedback_column="Feedback als Komentar")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"Student,ID\n\xff\xfe,1\n", "not UTF-8"),
        (b'Student,ID\n"open,1\n', "not CSV"),
        (b"Student,ID\nada,1,2\n", "row 2 has 3 cells, the header 2"),
    ],
)
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "sheet.csv").write_bytes(content)
    with pytest.raises(UsageError, match=said):
        read_worksheet(tmp_path / "sheet.csv")


def test_the_command_fills_a_gradebook_and_says_who_is_left(tmp_path: Path) -> None:
    grades = tmp_path / "grades"
    grades.mkdir()
    (grades / "ada.json").write_text(json.dumps({**graded(17.5), "submission": "ben"}))  # a file's name counts
    (grades / "zoe.json").write_text(json.dumps(graded(1)))
    sheet, out = SCHEMAS / "canvas.csv", tmp_path / "out.csv"
    done = grader("export", grades, "--to", "canvas", "--into", sheet, "--column", "Homework 3", "--out", out)
    assert done.returncode == 0, done.stderr
    assert as_canvas_reads(out.read_bytes().decode())["101"] == "17.5"
    assert done.stderr.splitlines() == [
        "grader: reports without a row: zoe",
        "grader: rows without a report: 102, 103, 104, 105",
    ]
