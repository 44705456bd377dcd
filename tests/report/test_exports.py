"""Exports hold what the report holds, in the shape their readers document, and hostile words stay words."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.report.exports.cells import harmless
from grader.report.exports.csv_table import csv_table
from grader.report.exports.gradescope_results import HiddenChecks, as_text, failure, results
from grader.report.exports.junit import junit
from grader.report.exports.markdown_table import literal, markdown
from grader.report.exports.moodle import as_html
from tests.in_process import command as grader
from tests.schemas import GRADESCOPE, REPORT

SCHEMAS = Path(__file__).parent / "export_schemas"
JUNIT = yaml.safe_load((SCHEMAS / "junit.yaml").read_text())

STATUSES = ["passed", "partial", "failed", "crashed", "missing", "skipped", "review", "ungraded"]
HOSTILE = (
    "]]> </failure> \x1b[2J\x00 \ud800 \u202e <script>x</script> | **b** [l](javascript:x) https://e.example @all =1+1"
)


def check(status: str, message: str = "", visibility: str = "public", points: float = 0, out_of: float = 2) -> Any:
    return {
        "id": f"is_{status}",
        "status": status,
        "points": points,
        "max_points": out_of,
        "code": status,
        "message": message or f"it is {status}",
        "evidence": {"printed": "what the student's code printed"},
        "visibility": visibility,
        "seconds": 0.25,
    }


def report(*checks: Any, status: str = "partial", **more: Any) -> Any:
    """A report of one problem with these checks, as the JSON report has it."""
    points, out_of = sum(c["points"] for c in checks), sum(c["max_points"] for c in checks)
    problem = {"id": "2.1", "title": "Attention", "status": status, "points": points, "max_points": out_of}
    data = {
        "schema": 1,
        "submission": "as handed in",
        "rubric": "dl-hw3",
        "rubric_sha256": "0" * 64,
        "grader_version": "0.1.0",
        "seed": 0,
        "points": points,
        "max_points": out_of,
        "provisional": status in ("review", "ungraded"),
        "seconds": 1.5,
        "isolation": {"layers": ["landlock"], "missing": []},
        "notes": [],
        "problems": [{**problem, "checks": list(checks)}],
        **more,
    }
    if HOSTILE not in json.dumps(data, ensure_ascii=False):
        REPORT.validate(data)
    return data


EVERY_STATUS = report(*(check(status, points=2 if status == "passed" else 0) for status in STATUSES))


def test_gradescope_keeps_its_schema_and_every_point() -> None:
    data = json.loads(as_text(results(EVERY_STATUS)))
    GRADESCOPE.validate(data)
    assert (data["score"], data["execution_time"]) == (2, 1.5)
    assert [test.get("status") for test in data["tests"]] == ["passed", *["failed"] * 5, None, None]
    first = data["tests"][0]
    assert (first["name"], first["number"], first["score"], first["max_score"]) == (
        "Attention: is_passed",
        "2.1.1",
        2,
        2,
    )
    assert data["tests"][2]["output"] == "failed: it is failed"
    assert "leaderboard" not in data


def test_gradescope_hides_hidden_checks_and_their_words() -> None:
    secret = report(check("failed", "off by 3", visibility="hidden"), check("passed", points=2))
    never = results(secret)["tests"]
    assert [test["visibility"] for test in never] == ["hidden", "visible"]
    assert "off by 3" not in json.dumps(never)
    later = results(secret, HiddenChecks.AFTER_PUBLISHED)
    GRADESCOPE.validate(later)
    assert later["tests"][0]["visibility"] == "after_published"
    assert later["tests"][0]["output"] == "failed: off by 3"


def test_a_leaderboard_gives_no_hidden_points_away() -> None:
    mixed = report(check("passed", points=2, visibility="hidden"), check("partial", points=1.5))
    data = results(mixed, leaderboard=True)
    GRADESCOPE.validate(data)
    assert [entry["value"] for entry in data["leaderboard"]] == [1.5]


def test_gradescope_shows_withheld_checks_after_publishing_and_keeps_them_off_the_leaderboard() -> None:
    mixed = report(check("failed", "not found: every idea"), check("partial", points=1.5))
    data = results(mixed, withheld=["2.1:is_failed", "3:is_partial"], leaderboard=True)
    GRADESCOPE.validate(data)
    assert [test["visibility"] for test in data["tests"]] == ["after_published", "visible"]
    data = results(mixed, withheld=["2.1:is_partial"], leaderboard=True)
    assert [entry["value"] for entry in data["leaderboard"]] == [0]


def test_export_takes_checks_to_show_after_publishing(tmp_path: Path) -> None:
    (tmp_path / "alice.json").write_text(json.dumps(report(check("failed"), check("passed", points=2))))
    command = ("export", tmp_path / "alice.json", "--to", "gradescope", "--after-published")
    tests = json.loads(grader(*command, "2.1:is_passed").stdout)["tests"]
    assert [test["visibility"] for test in tests] == ["visible", "after_published"]
    refused = grader(*command, "is_passed")
    assert refused.returncode == 2
    assert "PART:CHECK" in refused.stderr


def test_what_is_ungraded_hides_the_total_and_is_said() -> None:
    data = results(report(check("passed", points=2), check("ungraded"), status="ungraded"))
    assert "2.1 could not be graded; the fault is the grader's" in data["output"]
    assert [(test["name"], test["visibility"]) for test in data["tests"][-1:]] == [("Ungraded: 2.1", "hidden")]
    GRADESCOPE.validate(failure(20))
    assert failure(20)["tests"][0]["visibility"] == "hidden"
    assert "not your fault" in failure(20)["output"]


def _hold_to_the_junit_schema(element: ElementTree.Element) -> None:
    rule = JUNIT[element.tag]
    assert set(rule["needs"]) <= set(element.attrib) <= {*rule["needs"], *rule["may"]}, element.attrib
    order = [rule["children"].index(child.tag) for child in element]
    assert order == sorted(order)
    for child in element:
        _hold_to_the_junit_schema(child)


def test_junit_keeps_its_schema_and_maps_every_status() -> None:
    written = junit({"ada": EVERY_STATUS, "ben": EVERY_STATUS})
    assert written.startswith('<?xml version="1.0" encoding="utf-8"?>\n')
    root = ElementTree.fromstring(written.encode())
    _hold_to_the_junit_schema(root)
    assert [suite.get("name") for suite in root] == ["ada", "ben"]
    counts = {name: root[0].get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "8", "failures": "3", "errors": "2", "skipped": "2"}
    kinds = [next((one.tag for one in case if one.tag != "properties"), None) for case in root[0].iter("testcase")]
    assert kinds == [None, "failure", "failure", "error", "failure", "skipped", "skipped", "error"]
    case = root[0].findall("testcase")[2]
    assert (case.get("classname"), case.get("name"), case.get("time")) == ("dl-hw3.2.1", "is_failed", "0.250")
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert properties == {"points": "0", "max_points": "2", "status": "failed", "visibility": "public"}
    assert case.find("failure").get("message") == "it is failed"  # type: ignore[union-attr]


def test_an_optional_problem_left_out_is_no_failure_in_junit() -> None:
    left_out = report(check("missing"), status="missing")
    left_out["problems"][0]["max_points"] = left_out["max_points"] = 0
    root = ElementTree.fromstring(junit({"ada": left_out}))
    assert (root[0].get("failures"), root[0].get("skipped")) == ("0", "1")


@given(st.text(), st.text())
def test_junit_stays_well_formed_whatever_is_said(student: str, message: str) -> None:
    problem = {**EVERY_STATUS["problems"][0], "checks": [check("failed", message)]}
    xml = junit({student: {**EVERY_STATUS, "problems": [problem]}})
    _hold_to_the_junit_schema(ElementTree.fromstring(xml.encode()))


@pytest.mark.parametrize("export", [junit, markdown, csv_table, lambda reports: as_text(results(reports["ada"]))])
def test_hostile_words_are_shown_and_not_obeyed(export: Any) -> None:
    text = export({"ada": report(check("failed", HOSTILE))})
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "\u202e" not in text
    text.encode("utf-8")
    assert "what the student's code printed" not in text


def test_hostile_words_stay_words_in_xml_markdown_and_html() -> None:
    hostile = report(check("failed", HOSTILE))
    message = ElementTree.fromstring(junit({"ada": hostile})).find(".//failure").get("message")  # type: ignore[union-attr]
    assert message is not None
    assert "]]> </failure>" in message
    html = MarkdownIt("commonmark").enable("table").render(markdown({"ada": hostile, HOSTILE: hostile}))
    tags = set(re.findall(r"<(\w+)", html))
    assert tags <= {"table", "thead", "tbody", "tr", "th", "td", "h2", "ul", "li", "strong"}
    assert "&lt;script&gt;x&lt;/script&gt; | **b** [l](javascript:x) https://e.example @all" in html
    assert html.count("<tr>") == 3 + 2 + 2  # a name with bars in it adds no cell and no row
    assert set(re.findall(r"</?(\w+)", as_html(hostile))) == {"p", "ul", "li"}


@given(st.text(max_size=60))
def test_literal_markdown_shows_the_text_it_was_given(text: str) -> None:
    shown = MarkdownIt("commonmark").renderInline(f"x{literal(text)}x")
    assert "<" not in shown


def test_markdown_tells_points_feedback_and_what_is_open() -> None:
    text = markdown({"ada": report(check("review", "two ideas of three", points=1), status="review")})
    assert "## ada: 1 / 2" in text
    assert "- **2.1 is\\_review** review, 1 / 2: two ideas of three" in text
    assert "points are provisional" in text


@pytest.mark.parametrize(
    "formula", ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1", "-1+cmd|' /C calc'!A0"]
)
def test_formulas_are_made_harmless(formula: str) -> None:
    assert harmless(formula) == f"'{formula}"


@pytest.mark.parametrize("text", ["-3", "+2.5", "12,5", "ada", "", "a=b", "2.1"])
def test_numbers_and_words_are_left_alone(text: str) -> None:
    assert harmless(text) == text


def test_the_table_has_a_row_a_student_and_no_number_for_what_is_ungraded() -> None:
    reports = {
        "ada": report(check("passed", points=1.5)),
        "=cmd()": report(check("ungraded"), status="ungraded"),
    }
    rows = list(csv.DictReader(io.StringIO(csv_table(reports))))
    assert [row["student"] for row in rows] == ["ada", "'=cmd()"]
    assert (rows[0]["points"], rows[0]["2.1"], rows[0]["provisional"]) == ("1.5", "1.5", "no")
    assert (rows[1]["ungraded"], rows[1]["2.1"]) == ("2.1", "")


def test_the_command_reads_a_folder_and_names_what_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "ada.json").write_text(json.dumps({**EVERY_STATUS, "overrides": ["a later key"]}))
    (tmp_path / "broken.json").write_text('{"schema": 1')
    (tmp_path / "other.json").write_text('{"schema": 1, "submission": "x"}')
    (tmp_path / "nan.json").write_text(json.dumps({**EVERY_STATUS, "points": float("nan")}))
    done = grader("export", tmp_path, "--to", "csv")
    assert done.returncode == 0, done.stderr
    assert [line.split(",")[:2] for line in done.stdout.splitlines()[1:]] == [['"ada"', "2"]]
    assert done.stderr.startswith("grader: left out: broken.json (not JSON), nan.json (not a report: points")
    assert "other.json (not a report: rubric is missing)" in done.stderr
    assert done.stderr.count("\n") == 1


def test_several_results_for_gradescope_go_into_a_folder(tmp_path: Path) -> None:
    grades = tmp_path / "grades"
    grades.mkdir()
    for name in ("ada", "ben"):
        (grades / f"{name}.json").write_text(json.dumps(EVERY_STATUS))
    refused = grader("export", grades, "--to", "gradescope")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "grader: 2 files are to be written; give --out a folder\n"
    assert grader("export", grades, "--to", "gradescope", "--out", tmp_path / "out").returncode == 0
    for name in ("ada", "ben"):
        GRADESCOPE.validate(json.loads((tmp_path / "out" / f"{name}.json").read_text()))


def test_nothing_to_export_is_one_clear_line(tmp_path: Path) -> None:
    assert "there is no such folder of grades" in grader("export", tmp_path / "none", "--to", "csv").stderr
    assert "holds no JSON reports" in grader("export", tmp_path, "--to", "csv").stderr
    (tmp_path / "ada.json").write_text(json.dumps(EVERY_STATUS))
    done = grader("export", tmp_path, "--to", "canvas")
    assert done.stderr == "grader: --to canvas fills a file that Canvas made: give it with --into\n"
