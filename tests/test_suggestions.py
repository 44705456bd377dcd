"""What an author is told about a word or a value that does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from grader.rubric.hints import did_you_mean, misfit, misfit_of_a_value


@pytest.mark.parametrize(
    ("written", "known", "said"),
    [
        ("rtoll", ["atol", "rtol"], "; did you mean 'rtol'?"),
        ("colour", ["rtol", "atol"], "; known: atol, rtol"),
        ("colour", [], ""),
    ],
)
def test_the_nearest_word_is_named_or_all_of_them(written: str, known: list[str], said: str) -> None:
    assert did_you_mean(written, known) == said


@pytest.mark.parametrize(
    ("kind", "place", "message", "said"),
    [
        ("extra_forbidden", ("problems", "ponits"), "", "'ponits' has no meaning here; did you mean 'points'?"),
        ("missing", ("problems", "id"), "", "'id' is missing"),
        ("too_short", ("says",), "List should have at least 1 item", "'says' should have at least 1 item"),
        ("value_error", ("says", 0), "Value error, it holds nothing", "it holds nothing"),
        ("value_error", ("points",), "Value error, is no number", "'points' is no number"),
        ("int_type", ("points",), "Input should be a valid integer", "'points' should be a valid integer"),
    ],
)
def test_what_pydantic_found_is_told_in_words(kind: str, place: tuple[Any, ...], message: str, said: str) -> None:
    assert misfit({"type": kind, "loc": place, "msg": message}, ["id", "points"]) == said


def test_what_is_missing_in_a_value_is_told_with_its_place() -> None:
    lacking = {"type": "missing", "loc": ("tiers", 0, "Tier", "says"), "msg": "Field required"}
    assert misfit_of_a_value([lacking], {"tiers": [{"points": 1}]}, ["says"]) == (["tiers", 0, "says"], "is missing")


def test_of_a_few_words_the_one_that_is_near_is_named() -> None:
    told = misfit(
        {
            "type": "literal_error",
            "loc": ("visibility",),
            "msg": "Input should be 'public' or 'hidden'",
            "input": "hiden",
            "ctx": {"expected": "'public' or 'hidden'"},
        },
        [],
    )
    assert told.endswith("not 'hiden'; did you mean 'hidden'?")


def test_a_key_that_one_kind_forbids_and_another_wants_otherwise_has_no_meaning_first() -> None:
    """A value may be of several kinds, and pydantic complains of one place for each of them."""
    value = {"pionts": "one"}
    problems = [
        {"type": "extra_forbidden", "loc": ("Tier", "pionts"), "msg": "", "input": "one"},
        {"type": "int_type", "loc": ("Other", "pionts"), "msg": "", "input": "one"},
    ]
    place, said = misfit_of_a_value(problems, value, ["points"])
    assert (place, said) == (["pionts"], "has no meaning here; did you mean 'points'?")
