"""The record: only added to, decided by people where they decided, harmless in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.batch.files import as_csv, file_name, write_files
from grader.batch.gradebook import Gradebook, Result, Run
from grader.batch.gradebook_file import NAME, GradebookFault
from grader.batch.grades import current_grade
from grader.batch.rulings import Decision, Kind, Ruling
from grader.errors import UsageError
from tests.schemas import REPORT


def a_result(
    student: str = "alice", points: str = "7/3", status: str = "review", judged: str = "0", checks: Any = ()
) -> Result:
    shown = round(float(Fraction(points)), 2)
    rests_on = {"sha256": judged * 64, "kind": "answer", "pieces": []}
    found = {"id": "1.a", "title": "A", "status": status, "points": shown, "max_points": 4}
    problems = [
        {**found, **({"judged": rests_on} if judged else {}), "checks": list(checks)},
        {"id": "1.b", "title": "B", "status": "missing", "points": 0, "max_points": 0, "checks": []},
    ]
    report = {
        "schema": 1,
        "submission": student,
        "rubric": "r",
        "rubric_sha256": "0" * 64,
        "grader_version": "1",
        "seed": 0,
        "points": shown,
        "max_points": 4,
        "provisional": True,
        "seconds": 0.1,
        "notes": [],
        "isolation": {"layers": [], "missing": []},
        "problems": problems,
    }
    exact = {"points": {"1.a": points, "1.b": "0"}, "worth": {"1.a": "4", "1.b": "3"}, "scores": {}}
    asked = {"problems": {"1.a": {"optional": False}, "1.b": {"optional": True}}}
    return Result(student, "", "graded", "s", "c", "r", json.dumps(asked), True, exact, report)


@pytest.fixture
def book(tmp_path: Path) -> Gradebook:
    return Gradebook(tmp_path, new=True)


def keep(book: Gradebook, *results: Result) -> None:
    run = book.begin_run(Run("rubric.yaml", None, 0, (), ""), "r", "1")
    for result in results:
        book.add(run, result)


def grade(book: Gradebook, student: str) -> dict[str, object]:
    latest = book.latest(student)
    assert latest is not None
    return current_grade(book, latest)


def override(book: Gradebook, student: str, part: str, points: Fraction | None, by: str, why: str) -> Decision:
    (made,) = book.decisions.decide([Ruling(student, part, points, why)], by=by, kind=Kind.OVERRIDE).decisions
    return made


def test_results_of_earlier_runs_stay_as_history(book: Gradebook) -> None:
    keep(book, a_result(points="1"), a_result(points="2"))
    keep(book, a_result(points="3"))
    assert [result.exact["points"]["1.a"] for result in book.history("alice")] == ["1", "2", "3"]
    latest = book.latest("alice")
    assert latest is not None
    assert latest.exact["points"]["1.a"] == "3"
    assert book.latest("ben") is None


def test_an_override_is_logged_with_old_and_new_and_survives_grading_again(book: Gradebook) -> None:
    keep(book, a_result(points="1"))
    first = override(book, "alice", "1.a", Fraction("2.5"), "Kim", "shown in office hours")
    second = override(book, "alice", "1.a", Fraction(3), "Lee", "and the rest")
    assert (first.was, first.points, second.was, second.points) == (1, Fraction(5, 2), Fraction(5, 2), 3)
    keep(book, a_result(points="0", status="failed"))
    graded = grade(book, "alice")
    assert (graded["points"], graded["max_points"], graded["provisional"]) == (3, 4, False)
    (part, _) = graded["problems"]  # type: ignore[misc]
    assert (part["points"], part["override"]["was"], part["override"]["by"]) == (3, 0, "Lee")
    REPORT.validate(graded)
    assert [one.by for one in book.decisions.of_student("alice")] == ["Kim", "Lee"]


def test_a_withdrawn_override_leaves_the_grade_and_stays_in_the_log(book: Gradebook) -> None:
    keep(book, a_result(points="1"))
    override(book, "alice", "1.a", Fraction(4), "Kim", "generous")
    override(book, "alice", "1.a", None, "Kim", "a mistake")
    assert grade(book, "alice")["points"] == 1
    assert [one.points for one in book.decisions.of_student("alice")] == [4, None]
    with pytest.raises(UsageError, match="no decision that could be withdrawn"):
        override(book, "alice", "1.a", None, "Kim", "again")


def test_an_optional_part_that_was_left_out_adds_points_once_somebody_decides_it(book: Gradebook) -> None:
    keep(book, a_result(points="7/3"))
    before = grade(book, "alice")
    assert (before["points"], before["max_points"], before["bonus_points"], before["max_bonus"]) == (2.33, 4, 0, 3)
    override(book, "alice", "1.b", Fraction(2), "Kim", "handed in on paper")
    graded = grade(book, "alice")
    assert (graded["points"], graded["max_points"], graded["bonus_points"], graded["max_bonus"]) == (4.33, 4, 2, 3)
    REPORT.validate(graded)


@pytest.mark.parametrize(
    ("student", "part", "points", "said"),
    [
        ("alic", "1.a", 1, "no student 'alic'; did you mean 'alice'"),
        ("alice", "1.c", 1, "has no part '1.c'; did you mean '1.[ab]'\\?$"),
        ("alice", "1.a", 5, "worth 0 to 4 points"),
        ("alice", "1.a", -1, "worth 0 to 4 points"),
    ],
)
def test_an_override_that_makes_no_sense_is_refused(
    book: Gradebook, student: str, part: str, points: int, said: str
) -> None:
    keep(book, a_result())
    with pytest.raises(UsageError, match=said):
        override(book, student, part, Fraction(points), "Kim", "x")
    assert book.decisions.of_student("alice") == []


@pytest.mark.parametrize("table", ["results", "parts", "acts", "decisions", "runs"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET {} = ''"])
def test_what_is_in_the_gradebook_cannot_be_changed(book: Gradebook, table: str, change: str) -> None:
    keep(book, a_result())
    override(book, "alice", "1.a", Fraction(1), "Kim", "x")
    with pytest.raises(sqlite3.IntegrityError, match="only ever added"):
        sqlite3.connect(book.path).execute(change.format(table, "part" if table in ("parts", "decisions") else "at"))


def test_a_file_that_is_no_gradebook_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"something else" * 100)
    with pytest.raises(GradebookFault, match="not a database"):
        Gradebook(tmp_path, new=True)
    with pytest.raises(UsageError, match="there is no gradebook"):
        Gradebook(tmp_path / "elsewhere")


HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "=cmd|' /C calc'!A0", 'a"b', "a,b", "a\nb"]


def test_no_cell_is_a_formula_to_a_spreadsheet() -> None:
    rows = [
        {"student": text, "name": text, "parts": {"1.a": -1.5, "=1": ""}, "points": 0, "max_points": 4}
        | {"provisional": "no", "decided": "", "ungraded": text}
        for text in HOSTILE
    ]
    read = list(csv.reader(io.StringIO(as_csv(rows))))
    assert len(read) == len(HOSTILE) + 1
    for row in read:
        for cell in row:
            number = cell.replace(".", "").lstrip("+-").isdigit()
            assert number or not cell.strip(" ").startswith(("=", "+", "-", "@", "\t")), cell
    assert read[1][2] == "-1.5"


def test_every_id_has_a_file_of_its_own_inside_the_folder(tmp_path: Path) -> None:
    ids = ["alice", "Jane Doe", "ada@example.edu", "index", "gradebook", "..", "../up", "a/b", "a_b", "-rf", "", "."]
    ids += ["é" * 80, "漢" * 79 + "1", "漢" * 79 + "2", ".hidden", "con:", "a\\b"]
    names = [file_name(student) for student in ids]
    assert len(set(names)) == len(ids)
    assert names[:3] == ids[:3]
    for name in names:
        (tmp_path / f"{name}.json").write_text("")
        assert (tmp_path / f"{name}.json").parent == tmp_path
        assert not name.startswith((".", "-"))
    assert len(list(tmp_path.iterdir())) == len(ids)


def test_files_say_what_the_gradebook_says(book: Gradebook, tmp_path: Path) -> None:
    keep(book, a_result("ben", "4", "passed"), a_result("=alice"))
    override(book, "ben", "1.a", Fraction(1), "Kim", "copied")
    write_files(book, tmp_path)
    read = list(csv.DictReader((tmp_path / "gradebook.csv").open()))
    assert [(row["student"], row["1.a"], row["1.b"], row["points"]) for row in read] == [
        ("'=alice", "2.33", "", "2.33"),
        ("ben", "1", "", "1"),
    ]
    assert [row["decided"] for row in read] == ["", "1.a"]
    assert json.loads((tmp_path / "ben.json").read_text())["points"] == 1
    keep(book, replace(a_result("ben", "4", "passed"), name="Ben"))
    write_files(book, tmp_path)
    assert "ben,Ben,1,,1,4,0,no,1.a," in (tmp_path / "gradebook.csv").read_text()
