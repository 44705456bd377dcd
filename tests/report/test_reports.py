"""Reports: exact points, narrow terminals, hostile words, and JSON that is always JSON."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from grader.model import (
    Check,
    CheckResult,
    Isolation,
    Outcome,
    Problem,
    ProblemResult,
    Report,
    Rubric,
    Status,
    failed,
    passed,
)
from grader.quoting import quote
from grader.registry import Prompt, check
from grader.report.json_report import to_json
from grader.report.points import rounded
from grader.report.terminal import print_report
from tests.schemas import REPORT

HOSTILE = "\x1b[2J\x1b]0;owned\x07 \u202efull marks\u202c [bold red]20/20[/] \u0000\n│ Total │ 20 / 20 │ \ud800"


def _report(*outcomes: Outcome, name: str = "alice", missing: tuple[str, ...] = ()) -> Report:
    checks = [
        Check(f"check_{n}", lambda **_: passed(""), {}, "It is as it should be, always and everywhere.", Fraction(1, 3))
        for n in range(len(outcomes))
    ]
    results = tuple(
        CheckResult(check, outcome, check.points * outcome.score, 0.1)
        for check, outcome in zip(checks, outcomes, strict=True)
    )
    total = sum((check.points for check in checks), Fraction(0))
    problem = Problem("1.a", "A title that is rather long, as titles go in such courses", total, tuple(checks))
    points = sum((result.points for result in results), Fraction(0))
    graded = ProblemResult(problem, Status.PARTIAL, points, results)
    rubric = Rubric("r", "Rubric", total, (problem,), Path("r.yaml"), "0" * 64)
    return Report(name, rubric, 0, (graded,), Isolation((), missing), 1.0, ("a note",))


def _printed(report: Report, width: int) -> str:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=width))
    return stream.getvalue()


@given(st.fractions(0, 1000))
def test_points_are_rounded_to_the_nearest_cent_and_never_by_float(points: Fraction) -> None:
    shown = rounded(points)
    assert abs(Fraction(str(shown)) - points) <= Fraction(1, 200)


def test_halves_go_up_and_whole_numbers_stay_whole() -> None:
    assert [rounded(Fraction(text)) for text in ("57.5", "4", "1/3", "0.005", "2.675", "0.004")] == [
        57.5,
        4,
        0.33,
        0.01,
        2.68,
        0,
    ]
    assert isinstance(rounded(Fraction(4)), int)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long_word = "x" * 300
    text = _printed(_report(failed(f"off by 3 at (0, 1): {long_word}"), passed("fine")), width)
    assert all(len(line) <= width for line in text.splitlines())
    assert "off by 3" in text
    assert "fine" not in text  # what passed needs no feedback


def test_hostile_words_are_shown_and_not_obeyed() -> None:
    text = _printed(_report(failed(quote(HOSTILE)), name=quote(HOSTILE)), 100)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold red]20/20[/]" in text
    assert sum(line.startswith("│ Total") for line in text.splitlines()) == 1


@given(st.text())
def test_quoting_leaves_one_printable_line(text: str) -> None:
    quoted = quote(text)
    assert len(quoted) <= 200
    assert quoted == "" or quoted.isprintable()


def test_missing_layers_and_provisional_points_are_said() -> None:
    text = _printed(_report(passed("x"), missing=("landlock",)), 80)
    assert "graded without these layers of isolation: landlock" in text
    assert "a note" in text


def test_feedback_tells_each_thing_once_and_what_waits_for_a_person() -> None:
    skipped = Outcome(Status.SKIPPED, Fraction(0), "left out")
    complete = Outcome(Status.REVIEW, Fraction(1), "all ideas", evidence={"not_found": []})
    wrong = Outcome(Status.REVIEW, Fraction(1), "one claim", evidence={"not_found": [], "wrong_claims": {"n": "n"}})
    report = _report(failed("off by 3"), skipped, skipped, complete, wrong)
    (problem,) = report.problems
    hidden = replace(problem.checks[0], check=replace(problem.checks[0].check, visibility="hidden"))
    problem = replace(problem, checks=(hidden, *problem.checks[1:]))
    text = _printed(replace(report, problems=(problem,)), 120)
    assert next(line for line in text.splitlines() if "Total" in line).split("│")[-2].strip() == "0.67 / 1.67"
    assert "failed  check_0  0 / 0.33  (hidden inputs)" in text
    assert text.count("(hidden inputs)") == 1
    assert text.count("left out") == 1, "one reason is said once"
    assert text.count("wanted: It is as it should be") == 1, "what was left out or is complete lacks nothing"
    assert "all ideas" not in text
    assert "one claim" in text
    assert "the ideas asked for were found in the prose of 1.a; a person still reads it" in text
    assert "provisional" not in text
    waiting = replace(problem, status=Status.REVIEW)
    assert "points are provisional" in _printed(replace(report, problems=(waiting,)), 120)


def test_an_optional_part_that_was_left_out_is_said_and_needs_no_feedback() -> None:
    report = _report(failed("nothing there"))
    (result,) = report.problems
    optional = replace(result, problem=replace(result.problem, optional=True), chosen="written")
    tried = _printed(replace(report, problems=(optional,)), 160)
    left_out = _printed(replace(report, problems=(replace(optional, status=Status.MISSING),)), 160)
    assert "such courses: written" in tried
    assert ("optional" in tried, "nothing there" in tried, "0 / 0.33" in tried) == (False, True, True)
    assert ("optional" in left_out, "nothing there" in left_out, "0 / 0 " in left_out) == (True, False, True)


EVIDENCE: dict[str, Any] = {
    "array": np.arange(3.0),
    "scalar": np.float32(1.5),
    "nan": float("nan"),
    "nested": {"inf": [np.inf, None, (1, 2)]},
    "path": Path("x"),
    "words": "β ≫ 0",
}


def test_json_holds_any_evidence_and_keeps_its_schema() -> None:
    report = _report(failed("x", evidence=EVIDENCE))
    data = json.loads(to_json(report), parse_constant=pytest.fail)
    REPORT.validate(data)
    evidence = data["problems"][0]["checks"][0]["evidence"]
    assert evidence["array"] == [0, 1, 2]
    assert evidence["nan"] == "nan"
    assert evidence["nested"] == {"inf": ["inf", None, [1, 2]]}
    assert data["max_points"] == 0.33


@check
def says_why(student: Any, rng: Any, *, prompt: Prompt) -> Outcome:
    """It says why."""
    return failed("no reason is given")


def test_what_was_found_wanted_and_asked_stands_below_each_other() -> None:
    report = _report(failed("no reason is given"))
    (graded,) = report.problems
    asked = Check("says_why", says_why, {"prompt": "Why is α a distribution?"}, "It says why.", Fraction(1))
    told = replace(graded, checks=(replace(graded.checks[0], check=asked),))
    lines = _printed(replace(report, problems=(told,)), 100).splitlines()
    places = {
        words: line.index(words)
        for words in ("no reason is given", "wanted: It says why.", "question: Why is α a distribution?")
        for line in lines
        if words in line
    }
    assert len(places) == 3
    assert len(set(places.values())) == 1
