"""Optional parts are bonus: they add points, the maximum stays, and what was left out is held against nobody."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from grader.model import Check, CheckResult, Isolation, Problem, ProblemResult, Report, Rubric, Status, failed, passed
from grader.report import class_summary
from grader.report.class_page import class_page
from grader.report.exports.csv_table import csv_table
from grader.report.exports.delivery import Format, Options, export
from grader.report.exports.gradescope_results import results
from grader.report.exports.junit import junit
from grader.report.exports.markdown_table import markdown
from grader.report.exports.moodle import as_html
from grader.report.exports.reports import ReportData, capped, report_from
from grader.report.html import student_page
from grader.report.json_report import as_data
from grader.report.terminal import print_report
from tests.conftest import the_rubric
from tests.report.made_reports import Page
from tests.schemas import REPORT

RUBRIC = the_rubric("tests/rubrics/small-class/rubric.yaml")


def _result(part: str, points: int, *, optional: bool = False, status: Status | None = None) -> ProblemResult:
    full, status = Fraction(3), status or (Status.PASSED if points else Status.FAILED)
    check = Check(f"of_{part}", lambda: passed(""), {}, "It is right.", full)
    outcome = passed("right") if points else replace(failed("wrong"), status=status)
    problem = Problem(part, f"Title {part}", full, (check,), optional=optional)
    return ProblemResult(problem, status, Fraction(points), (CheckResult(check, outcome, Fraction(points), 0.1),))


def a_report(*problems: ProblemResult, name: str = "alice") -> Report:
    rubric = Rubric("r", "Title", Fraction(6), (), RUBRIC.path, RUBRIC.sha256)
    return Report(name, rubric, 0, problems, Isolation((), ()), 0.1)


ASKED = (_result("1.a", 3), _result("1.b", 3))
EARNED = a_report(*ASKED, _result("1.e", 3, optional=True))
WRONG = a_report(*ASKED, _result("1.e", 0, optional=True), name="ben")
LEFT_OUT = a_report(*ASKED, _result("1.e", 0, optional=True, status=Status.MISSING), name="carol")
EVERYBODY = (EARNED, WRONG, LEFT_OUT)


def _for_export(report: Report) -> ReportData:
    return report_from(as_data(report))


def _printed(report: Report) -> str:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=120))
    return stream.getvalue()


def test_the_maximum_is_the_same_for_everybody_and_bonus_comes_on_top() -> None:
    assert [(one.points, one.max_points, one.bonus_points, one.max_bonus) for one in EVERYBODY] == [
        (9, 6, 3, 3),
        (6, 6, 0, 3),
        (6, 6, 0, 3),
    ]


def test_json_says_what_is_bonus_and_stays_as_it_was_without_any() -> None:
    data = as_data(EARNED)
    REPORT.validate(data)
    assert {key: data[key] for key in ("points", "max_points", "bonus_points", "max_bonus")} == {
        "points": 9,
        "max_points": 6,
        "bonus_points": 3,
        "max_bonus": 3,
    }
    assert [one.get("bonus") for one in data["problems"]] == [None, None, True]
    without = as_data(a_report(*ASKED))
    assert not {"bonus_points", "max_bonus"} & without.keys()
    assert all("bonus" not in one for one in without["problems"])


def test_the_terminal_shows_the_maximum_and_the_bonus_apart() -> None:
    assert "9 / 6 + 3" in _printed(EARNED)
    assert "3 / 3 bonus" in _printed(EARNED)
    left_out = _printed(LEFT_OUT)
    assert "6 / 6 + 3" in left_out
    assert "optional" in left_out
    assert not {"missing", "wrong", "bonus"} & set(left_out.split()), "what nobody asked for is no fault"


def test_pages_show_it_and_the_histogram_has_one_base() -> None:
    page = Page(student_page(as_data(EARNED))).text
    assert "9 of 6 + 3 points. 2 of 2 parts right." in page
    assert "3 / 3 bonus" in page
    assert "Most points lost" not in Page(student_page(as_data(WRONG))).text, "bonus is not lost"
    reports = [as_data(one) for one in EVERYBODY]
    shown = Page(class_page([class_summary.needed_for_class_page(one) for one in reports], "Title")).text
    assert "of 6 + 3 points" in shown
    counts, labels = class_summary.bins(reports)
    assert dict(zip(labels, counts, strict=True)) == dict.fromkeys(labels, 0) | {"90": 2, ">100": 1}
    assert ">100" not in class_summary.bins([as_data(a_report(*ASKED))])[1]


def test_maxima_on_gradescope_add_up_to_those_of_the_assignment() -> None:
    for one in EVERYBODY:
        tests = results(_for_export(one))["tests"]
        assert sum(test["max_score"] for test in tests) == 6
        assert sum(test["score"] for test in tests) == one.points


def test_tables_and_test_cases_have_a_place_for_bonus() -> None:
    reports = {one.submission: _for_export(one) for one in EVERYBODY}
    rows = list(csv.DictReader(io.StringIO(csv_table(reports))))
    assert [(row["points"], row["max_points"], row["bonus_points"]) for row in rows] == [
        ("9", "6", "3"),
        ("6", "6", "0"),
        ("6", "6", "0"),
    ]
    assert "bonus_points" not in csv_table({"dora": _for_export(a_report(*ASKED))})
    assert "| alice | 9 / 6 + 3 |" in markdown(reports)
    assert "<p>9 / 6 + 3 points</p>" in as_html(reports["alice"])
    properties = {one.get("name"): one.get("value") for one in ElementTree.fromstring(junit(reports)).iter("property")}
    assert properties["bonus_points"] == "0", "the last one's"


def test_gradescope_counts_bonus_and_leaves_out_what_was_left_out() -> None:
    earned, left_out = results(_for_export(EARNED)), results(_for_export(LEFT_OUT))
    assert (earned["score"], left_out["score"]) == (9, 6)
    assert [test["name"] for test in earned["tests"]][-1] == "Title 1.e (bonus): of_1.e"
    assert not [test for test in left_out["tests"] if "1.e" in test["name"]]


def test_a_capped_export_gives_nobody_more_than_the_maximum_and_says_so() -> None:
    reports = {one.submission: _for_export(one) for one in EVERYBODY}
    given, said = capped(reports)
    assert {name: one["points"] for name, one in given.items()} == {"alice": 6, "ben": 6, "carol": 6}
    assert said == "1 of 3 grades was capped at the maximum: alice"
    assert "9 points were earned; at most 6 count here" in given["alice"]["notes"]
    assert reports["alice"]["points"] == 9, "what was given is left alone"
    assert capped({"ben": reports["ben"]}) == (
        {"ben": reports["ben"]},
        "no grade lies above the maximum, so none was capped",
    )


@pytest.mark.parametrize(("to", "said"), [(Format.CANVAS, False), (Format.MOODLE, True)])
def test_moodle_is_said_to_drop_what_lies_above_its_maximum(to: Format, said: bool, tmp_path: Any) -> None:
    headings = {Format.CANVAS: "Student,ID,Section,A5 (1)", Format.MOODLE: "Identifier,Username,Maximum Grade,Grade"}
    rows = {Format.CANVAS: 'Points Possible,,,6\n"A, A",alice,s,\n', Format.MOODLE: "Participant 1,alice,6,\n"}
    into = tmp_path / "export.csv"
    into.write_text(f"{headings[to]}\n{rows[to]}")
    column = "A5" if to is Format.CANVAS else ""
    exported = export({"alice": _for_export(EARNED)}, to, Options(into, column))
    assert next(iter(exported.texts.values())).splitlines()[-1].split(",")[-1] == "9"
    assert any("--cap" in note and "alice" in note for note in exported.notes) is said
    assert not any("out of" in note for note in exported.notes), "6 is the maximum of both"
