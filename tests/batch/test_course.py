"""A class around its grades: who handed in nothing, what lateness takes off, and one hand-in by several students."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from grader.batch.course.commands import app as settings_app
from grader.batch.course.person import Person
from grader.batch.course.settings_log import HandIn
from grader.batch.course.student_grades import student_grades
from grader.batch.deciding.commands import app as deciding_app
from grader.batch.files import write_files
from grader.batch.gradebook import Gradebook
from grader.report.commands import app as export_app
from tests.batch.classes import RIGHT, batch
from tests.batch.test_gradebook import a_result, book, keep, override
from tests.report.made_reports import Page
from tests.schemas import REPORT

__all__ = ["book"]
RULE = {"deadline": "2026-11-20T23:59+01:00", "grace": "1h", "per_day": "1/10", "at_most": "3/10", "of": "earned"}
ON_TIME, TWO_DAYS = "2026-11-20T20:00Z", "2026-11-22T20:00Z"


def run(*arguments: str | Path) -> Any:
    app = {"settings": settings_app, "export": export_app}.get(str(arguments[0]), deciding_app)
    return CliRunner().invoke(app, [str(one) for one in arguments])


def graded(book: Gradebook) -> dict[str, dict[str, Any]]:
    found = {one.row.student: one.data for one in student_grades(book)}
    for data in found.values():
        REPORT.validate(data)
    return found


def group(book: Gradebook, hand_in: str, *members: str, came: str = "") -> None:
    book.settings.note_hand_in(hand_in, HandIn(tuple(map(Person, members)), came))


def table(folder: Path) -> dict[str, dict[str, str]]:
    return {row["student"]: row for row in csv.DictReader((folder / "gradebook.csv").open())}


def test_whoever_handed_in_nothing_stands_everywhere_with_nothing(book: Gradebook, tmp_path: Path) -> None:
    keep(book, a_result("alice", "4", "passed"), a_result("Zoe", "2"))
    book.settings.set(roster=[["ALICE", "Doe, Alice"], ["carol", "Carol Poe"]])
    write_files(book, tmp_path)
    rows = table(tmp_path)
    assert [(name, row["name"], row["handed_in"], row["points"]) for name, row in rows.items()] == [
        ("Zoe", "", "", "2"),
        ("alice", "Doe, Alice", "", "4"),
        ("carol", "Carol Poe", "not handed in", "0"),
    ]
    page = Page((tmp_path / "index.html").read_text()).text
    assert "2 submissions. Mean 3, median 3" in page, "what is counted is counted among hand-ins"
    assert "carol 0 / 4 + 3 0 of 1 not handed in" in page
    assert not (tmp_path / "carol.html").exists()
    assert "not handed in: carol\nhanded in, but not in the roster: Zoe" in run("status", tmp_path).stdout
    assert "carol: 0 of 4 + 3 points" in run("status", tmp_path, "--student", "carol").stdout
    exported = run("export", tmp_path, "--to", "csv")
    assert '"carol",0,4,0,"not handed in","no"' in exported.stdout
    assert "not handed in: carol" in exported.stderr
    refused = run("override", "carol", "1.a", "1", "--by", "Kim", "--why", "x", "--out", tmp_path)
    assert "carol handed in nothing" in refused.stderr


def test_without_a_roster_nobody_is_missed(book: Gradebook, tmp_path: Path) -> None:
    keep(book, a_result("alice", "4", "passed"))
    assert list(graded(book)) == ["alice"]
    assert not run("export", tmp_path, "--to", "csv").stderr
    assert "handed_in" not in run("export", tmp_path, "--to", "csv").stdout


def test_lateness_is_taken_off_the_sum_and_never_off_a_part(book: Gradebook, tmp_path: Path) -> None:
    keep(book, *(a_result(name, "10/3", "partial") for name in ("alice", "ben", "carol", "dora")))
    for name, came in (("alice", TWO_DAYS), ("ben", ON_TIME), ("carol", TWO_DAYS)):
        group(book, name, name, came=came)
    override(book, "alice", "1.b", Fraction(2), "Kim", "bonus on paper")
    book.settings.set(lateness=RULE, extensions={"carol": "2d"})
    found = graded(book)
    late = found["alice"]["lateness"]
    assert (late["days"], late["points_before"], late["deduction"], found["alice"]["points"]) == (2, 5.33, 1.06, 4.27)
    assert [one["points"] for one in found["alice"]["problems"]] == [3.33, 2], "parts are what they earned"
    assert (found["alice"]["max_points"], found["alice"]["bonus_points"]) == (4, 2)
    assert [found[name]["points"] for name in ("ben", "carol", "dora")] == [3.33] * 3
    assert "lateness" not in found["dora"], "nobody said when"
    assert found["carol"]["lateness"]["deadline"] == "2026-11-22T23:59:00+01:00"
    write_files(book, tmp_path)
    columns = ("points_before", "days_late", "deduction", "points")
    assert [[row[name] for name in columns] for row in table(tmp_path).values()] == [
        ["5.33", "2", "1.06", "4.27"],
        ["3.33", "0", "0", "3.33"],
        ["3.33", "0", "0", "3.33"],
        ["", "", "", "3.33"],
    ]
    said = "2 days late: 5.33 − 1.06 = 4.27 points (10% of the points earned for each day begun, at most 30%"
    assert said in Page((tmp_path / "alice.html").read_text()).text
    assert "2 days late −1.06 Total 4.27 / 4 + 3" in Page((tmp_path / "alice.html").read_text()).text
    assert " late" not in Page((tmp_path / "ben.html").read_text()).text
    markdown = run("export", tmp_path, "--to", "markdown")
    assert "2 days late: 5.33 − 1.06 = 4.27 points" in markdown.stdout
    assert "nobody said when they handed in" in markdown.stderr
    assert "dora" in markdown.stderr


def test_a_cap_comes_after_lateness(book: Gradebook, tmp_path: Path) -> None:
    keep(book, a_result("alice", "4", "passed"))
    override(book, "alice", "1.b", Fraction(3), "Kim", "bonus")
    group(book, "alice", "alice", came=TWO_DAYS)
    book.settings.set(lateness={**RULE, "per_day": "1/7"})
    assert graded(book)["alice"]["points"] == 5
    done = run("export", tmp_path, "--to", "csv", "--cap")
    assert '"alice",4,4,3,' in done.stdout
    assert "1 of 1 grades was capped at the maximum: alice" in done.stderr


def test_a_group_is_decided_once_and_everybody_in_it_has_a_row(book: Gradebook, tmp_path: Path) -> None:
    keep(book, a_result("team", "1"))
    group(book, "team", "alice", "bob", came=TWO_DAYS)
    done = run("override", "bob", "1.a", "3", "--by", "Kim", "--why", "says it", "--out", tmp_path)
    assert done.stdout.startswith("alice, bob 1.a: 1 → 3, by Kim: says it")
    book.settings.set(lateness=RULE, extensions={"bob": "7d"})
    found = graded(book)
    assert {name: (one["points"], one["group"]) for name, one in found.items()} == {
        "alice": (2.4, ["alice", "bob"]),
        "bob": (3, ["alice", "bob"]),
    }
    assert len(book.decisions.of_student("team")) == 1
    write_files(book, tmp_path)
    assert [row["group"] for row in table(tmp_path).values()] == ["alice bob", "alice bob"]
    assert (tmp_path / "bob.html").exists()
    assert json.loads((tmp_path / "bob.json").read_text())["submission"] == "bob"
    assert "bob: 3 of 4 + 3 points, final" in run("status", tmp_path, "--student", "bob").stdout
    done = run("override", "team", "1.a", "2", "--by", "Kim", "--why", "as `status` calls it", "--out", tmp_path)
    assert done.stdout.startswith("alice, bob 1.a: 3 → 2")


def test_a_member_who_also_handed_in_alone_has_no_grade_until_a_person_says(book: Gradebook, tmp_path: Path) -> None:
    alone = replace(a_result("bob", "4", "passed"), submission_sha256="other")
    keep(book, a_result("alice", "2", "partial"), alone)
    group(book, "alice", "alice", "bob")
    found = graded(book)
    assert found["alice"]["points"] == 2
    assert (found["bob"]["points"], found["bob"]["provisional"], found["bob"]["disputed"]) == (
        0,
        True,
        ["alice", "bob"],
    )
    assert {one["status"] for one in found["bob"]["problems"]} == {"review"}
    assert "handed in more than once" in found["bob"]["notes"][0]
    said = run("status", tmp_path).stdout
    assert "bob has no grade: handed in more than once" in said
    assert "grader settings GRADES --counts bob=alice" in said
    refused = run("override", "bob", "1.a", "3", "--by", "Kim", "--why", "x", "--out", tmp_path)
    assert "bob has no grade" in refused.stderr
    assert run("settings", tmp_path, "--counts", "bob=carol").exit_code == 2
    assert run("settings", tmp_path, "--counts", "bob=alice").exit_code == 0
    assert graded(book)["bob"]["points"] == 2
    assert run("settings", tmp_path, "--counts", "bob=bob").exit_code == 0
    assert graded(book)["bob"]["points"] == 4
    assert run("status", tmp_path).stdout.count("no grade") == 0


def test_the_same_files_alone_and_in_a_group_are_no_dispute(book: Gradebook) -> None:
    keep(book, a_result("alice", "2", "partial"), a_result("bob", "2", "partial"))
    group(book, "alice", "alice", "bob")
    assert graded(book)["bob"]["group"] == ["alice", "bob"]


def test_case_matters_between_hand_ins_and_not_within_a_group(book: Gradebook) -> None:
    """Canvas draws anonymous ids that differ in case only; people do not take care of it."""
    keep(book, a_result("xy1", "1"), a_result("Xy1", "2"), replace(a_result("team", "3"), submission_sha256="other"))
    group(book, "team", "carol", "Dora")
    group(book, "dora", "dora")
    found = graded(book)
    assert {name: one["points"] for name, one in found.items()} == {"xy1": 1, "Xy1": 2, "carol": 3, "Dora": 3}
    keep(book, a_result("dora", "1"))
    assert graded(book)["dora"]["disputed"] == ["team", "dora"]


def test_a_platforms_row_is_left_alone_while_it_is_open_which_hand_in_counts(book: Gradebook, tmp_path: Path) -> None:
    keep(book, a_result("alice", "2", "partial"), replace(a_result("bob", "4", "passed"), submission_sha256="other"))
    group(book, "alice", "alice", "bob")
    book.settings.set(roster=[["alice", ""], ["bob", ""], ["carol", ""]])
    into = tmp_path / "canvas.csv"
    into.write_text("Student,ID,Section,A5 (1)\nPoints Possible,,,4\nA,alice,s,\nB,bob,s,7\nC,carol,s,\n")
    done = run("export", tmp_path, "--to", "canvas", "--into", into, "--column", "A5")
    assert [line.rpartition(",")[2] for line in done.stdout.splitlines()[2:]] == ["2", "7", "0"]
    assert "left as it was, because it was handed in more than once: bob" in done.stderr


def test_no_platform_gets_a_zero_for_what_is_not_graded_yet(book: Gradebook, tmp_path: Path) -> None:
    keep(book, a_result("alice", "2", "partial"))
    book.settings.note_found(["alice", "bob"], {})
    into = tmp_path / "canvas.csv"
    into.write_text("Student,ID,Section,A5 (1)\nPoints Possible,,,4\nA,alice,s,\nB,bob,s,\n")
    done = run("export", tmp_path, "--to", "canvas", "--into", into, "--column", "A5")
    assert [line.rpartition(",")[2] for line in done.stdout.splitlines()[2:]] == ["2", ""]
    assert "not graded yet: bob\n" in done.stderr
    assert "bob | 0 / 4 + 3 | not graded yet |" in run("export", tmp_path, "--to", "markdown").stdout
    for form in ("junit", "gradescope"):
        run("export", tmp_path, "--to", form, "--out", tmp_path / form)
    assert "not graded yet" in (tmp_path / "junit").read_text()
    assert "not graded yet" in (tmp_path / "gradescope" / "bob.json").read_text()
    assert graded(book)["bob"]["not_graded_yet"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--deadline", "2026-11-20T23:59"), "does not say in which time zone"),
        (("--per-day", "10%"), "give --deadline, too"),
        (("--deadline", "2026-11-20T23:59Z", "--per-day", "10"), "no share of the points, such as 10%"),
        (("--deadline", "2026-11-20T23:59Z", "--grace", "soon"), "no length of time"),
        (("--extension", "alcie=2d"), "no student 'alcie'; did you mean 'alice'"),
        (("--extension", "alice"), "should be like --extension alice=2d"),
        (("--counts", "alice=bob"), "not behind a hand-in 'bob'"),
        (("--roster", "nowhere.csv"), "cannot be read"),
    ],
)
def test_a_setting_that_makes_no_sense_changes_nothing(
    book: Gradebook, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    keep(book, a_result("alice", "2"))
    done = run("settings", tmp_path, *options)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert "deadline    none" in run("settings", tmp_path).stdout


def test_settings_print_what_holds_and_keep_what_is_not_said_again(book: Gradebook, tmp_path: Path) -> None:
    keep(book, a_result("alice", "2"), a_result("ben", "2"))
    times = tmp_path / "times.csv"
    times.write_text("student;time\nalice;2026-11-22 20:00:00 Z\nbne;2026-11-22 20:00:00 Z\n")
    run("settings", tmp_path, "--deadline", "2026-11-20T23:59+01:00", "--grace", "1h", "--per-day", "10%")
    run("settings", tmp_path, "--at-most", "30%", "--extension", "ALICE=1d", "--handed-in", times)
    lines = run("settings", tmp_path).stdout.splitlines()
    assert lines[:4] == [
        "deadline    2026-11-20T23:59+01:00",
        "grace       1h",
        "lateness    10% of the points earned for each day begun, at most 30%",
        "extensions  alice 1d",
    ]
    assert lines[-2].endswith("(--handed-in FILE says it): ben")
    assert lines[-1] == "--handed-in named people who are neither in the roster nor handed in: bne"
    assert graded(book)["alice"]["lateness"]["days"] == 1
    run("settings", tmp_path, "--extension", "alice=0", "--no-deadline")
    assert run("settings", tmp_path).stdout.startswith("deadline    none: nobody is late\nroster ")
    assert "lateness" not in graded(book)["alice"]
    assert csv.reader(io.StringIO(run("export", tmp_path, "--to", "csv").stdout))


@pytest.mark.slow
def test_a_batch_knows_the_class_from_its_files(tmp_path: Path) -> None:
    work, out = tmp_path / "in", tmp_path / "out"
    for name, students in (("team", "[bob, CAROL]"), ("alice", "[dora, 007]"), ("erin", ""), ("bob", "[bob]")):
        (work / name).mkdir(parents=True)
        (work / name / "attention.py").write_text(f"{RIGHT}# {name}\n")
        if students:
            (work / name / "submission.yaml").write_text(f"students: {students}\n")
    roster, times = tmp_path / "roster.csv", tmp_path / "times.csv"
    roster.write_text("\ufeffstudent;name\nalice;A\nbob;B\ncarol;C\ndora;D\nfred;F\n007;J\n")
    times.write_text("student,time\nalice,2026-11-20T23:00Z\nteam,2026-11-21T23:00Z\n")
    done = batch(work, out, "--roster", roster, "--handed-in", times)
    assert "not handed in: fred\n" in done.stderr
    assert "handed in, but not in the roster: erin\n" in done.stderr
    assert "bob has no grade: handed in more than once" in done.stderr
    assert "whom their submission.yaml names: team (bob, carol)" in done.stderr
    with Gradebook(out) as book:
        groups = {name: one.get("group") for name, one in graded(book).items()}
        together = ["alice", "dora", "007"]  # alice is in the roster, so the folder is hers, whomever she names
        assert groups == {
            **dict.fromkeys(together, together),
            "carol": ["bob", "carol"],
            "bob": None,
            "erin": None,
            "fred": None,
        }
        book.settings.set(lateness=RULE)
        late = {name: one["lateness"]["days"] for name, one in graded(book).items() if "lateness" in one}
        assert late == {**dict.fromkeys(together, 0), "carol": 2}
    (work / "team").rename(tmp_path / "gone")
    (work / "team.zip").write_bytes(b"PK but no more")
    again = batch(work, out)
    assert "3 unchanged" in again.stdout
    assert "1 of 1 submissions: 1 unchanged" in batch(work, out, "--student", "dora").stdout
    with Gradebook(out) as book:
        assert graded(book)["carol"]["group"] == ["bob", "carol"], "what cannot be opened says nothing about its group"
    roster.write_text("student,name\nalice,A\nalice,B\n")
    wrong = batch(work, out, "--roster", roster)
    assert (wrong.returncode, f"{roster}:3: 'alice' is in line 2, too" in wrong.stderr) == (2, True)
