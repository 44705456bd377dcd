"""What is shown of an outcome, piece by piece."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grader.errors import WrongKind
from grader.grading.concealment import as_shown, concealed, from_fault, with_output
from grader.model import Check, Outcome, Status, failed, passed


def _check(visibility: str) -> Check:
    return Check("c", lambda student, rng: passed("x"), {}, "It works.", Fraction(1), visibility=visibility)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("off by 0.2137", "off by 0.21"),
        ("off by 1.5678e-07, or 3e5", "off by 1.6e-07, or 300000"),
        ("12345 of 1,234", "12000 of 1200"),
        ("9.96 and 9.94", "10 and 9.9"),
        ("99.4 and 1234567", "99 and 1.2e+06"),
        ("0.000 and 0.00000000000123", "0 and 1e-09"),
        ("123456789012345", "1e+09"),
        ("999 of float6412, 2×1280×64 and hw3.1234", "999 of float6412, 2×1280×64 and hw3.1234"),
    ],
)
def test_a_hidden_check_tells_numbers_to_two_digits(said: str, told: str) -> None:
    assert concealed(failed(said)).message == told


def test_evidence_of_a_hidden_check_is_words_and_two_digits_and_of_a_pass_only_words() -> None:
    evidence = {"kind": "far", "all": True, "count": 12345, "off": -0.12345, "huge": float("inf"), "list": [1, 2]}
    told = concealed(failed("x", evidence=evidence)).evidence
    assert told == {"kind": "far", "all": True, "count": 12000, "off": -0.12, "huge": 1e9}
    assert {name: type(value) for name, value in told.items()} == {
        "kind": str,
        "all": bool,
        "count": int,
        "off": float,
        "huge": float,
    }
    assert concealed(passed("x", evidence=evidence)).evidence == {"kind": "far", "all": True}


def test_a_fault_is_told_in_other_words_where_the_check_is_hidden() -> None:
    fault = WrongKind("f() returned 1234 things", "in full", "f() returned several things: 4321")
    public, hidden = from_fault(fault, _check("public")), from_fault(fault, _check("hidden"))
    assert (public.message, public.score) == ("f() returned 1234 things", 0)
    assert (hidden.message, hidden.status) == ("f() returned several things: 4300", fault.status)


def test_details_and_a_replay_are_shown_only_of_public_checks_that_were_graded() -> None:
    found = failed("off", "got 1", evidence={"off_by": 1}, revealing={"input": [1]}, trial=3)
    public, hidden = as_shown(found, _check("public"), 7), as_shown(found, _check("hidden"), 7)
    assert (public.message, public.evidence) == ("off: got 1 (seed 7, trial 3)", {"off_by": 1, "input": [1]})
    assert (hidden.message, hidden.evidence) == ("off", {"off_by": 1})
    ungraded = Outcome(Status.UNGRADED, Fraction(0), "not graded", detail="KeyError: the answer", revealing={"x": 1})
    assert as_shown(ungraded, _check("public"), 7).message == "not graded"
    assert as_shown(ungraded, _check("public"), 7).evidence == {}
    assert as_shown(failed("off", trial=0), _check("public"), 7).message == "off (seed 7, trial 0)"


def test_what_was_printed_comes_with_what_did_not_pass() -> None:
    assert with_output(failed("x", revealing={"a": 1}), "hello").revealing == {"a": 1, "printed": "hello"}
    assert with_output(failed("x"), "").revealing == {}
    assert with_output(passed("x"), "hello").revealing == {}
