"""What each fault says, and to whom."""

from __future__ import annotations

import json

from grader.errors import Crashed, Missing, RubricError, cause_for_staff


def test_a_rubric_says_all_of_its_problems_one_in_a_line() -> None:
    error = RubricError(["a.yaml:1: no points", "a.yaml:7: no checks"])
    assert str(error) == "a.yaml:1: no points\na.yaml:7: no checks"
    assert error.problems == ["a.yaml:1: no points", "a.yaml:7: no checks"]


def test_a_fault_of_ours_is_told_with_its_place() -> None:
    try:
        raise KeyError("deep\ninside")
    except KeyError as error:
        told = cause_for_staff(error)
    assert told.startswith("KeyError: ")
    assert "test_errors.py:" in told
    assert "\n" not in told


def test_a_check_is_told_by_the_last_line_of_its_own_file() -> None:
    def helper() -> object:
        return json.loads("nothing of the kind")

    def judging() -> object:
        return helper()

    try:
        judging()
    except ValueError as error:
        told = cause_for_staff(error, judging)
    assert f"test_errors.py:{helper.__code__.co_firstlineno + 1}, in decoder.py:" in told


def test_how_code_crashes_is_concealed_and_what_is_missing_is_not() -> None:
    assert str(Crashed("raised Secret", "its own words")) == "raised Secret"
    assert Crashed("raised Secret").concealed == "the code crashed"
    assert Crashed("ran out of time", concealed="too slow").concealed == "too slow"
    assert Missing("attention.py is missing").concealed == "attention.py is missing"
