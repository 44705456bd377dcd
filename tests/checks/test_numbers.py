"""Numbers in written answers are read as people write them; what is not clear goes to a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.checks.numbers import gives_the_number
from grader.errors import Missing
from grader.formulas.quantities.found_numbers import chains_in, readings_of
from grader.formulas.quantities.plain_text import plain
from grader.formulas.quantities.right_number import Key, judge
from grader.formulas.quantities.unit_reading import asked_unit, read_unit
from grader.model import Answer, Outcome, Piece, Status
from grader.prose.chosen_options import chosen_in
from grader.registry import definition_of
from grader.rubric.yaml_source import read
from tests.checks.answering import answering
from tests.formulas.conftest import in_this_process as in_this_process

CORPUS = read((Path(__file__).parent / "numbers.yaml").read_text(encoding="utf-8")).data
pytestmark = pytest.mark.usefixtures("in_this_process")
STATUSES = {"passed": Status.PASSED, "half": Status.PARTIAL, "failed": Status.FAILED, "review": Status.REVIEW}


def judged(text: str, asked: dict[str, Any]) -> Outcome:
    known = definition_of(gives_the_number)
    assert known is not None
    given = {name: known.parameters[name].read(value, {}) for name, value in asked.items()}
    return gives_the_number(answering(text), np.random.default_rng(0), **given)


@pytest.mark.parametrize("question", CORPUS, ids=lambda question: str(question["asked"]["value"]))
def test_an_answer_gets_what_it_deserves(question: dict[str, Any]) -> None:
    wanted = {text: STATUSES[name] for name in STATUSES for text in question.get(name, ())}
    got = {text: judged(text, question["asked"]).status for text in wanted}
    assert got == wanted


def test_a_known_mistake_is_named() -> None:
    mistakes = [{"equals": "7", "because": "the time is left out", "score": "1/4"}]
    outcome = judged("v = 7", {"value": "7/2", "name": "v", "mistakes": mistakes})
    assert (outcome.status, outcome.message, outcome.score) == (Status.PARTIAL, "the time is left out", 0.25)
    assert outcome.code == "known_mistake"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("7", "known_mistake"),
        ("7 m/s", "known_mistake"),
        ("With d = 14 and t = 2 the answer is 7.", "known_mistake"),
        ("We take 14 m and 2 s.\n\nv: 7 m/s", "known_mistake"),
        ("7 kg", "wrong_number"),
        ("8 or 7", "wrong_number"),
        ("seven", "wrong_number"),
        ("3.5", "unit_missing"),
    ],
)
def test_a_known_mistake_needs_neither_name_nor_unit(text: str, code: str) -> None:
    mistakes = [{"equals": "7", "because": "the time is left out", "score": "1/4"}]
    asked = {"value": "7/2", "unit": "m/s", "name": "v", "needs_unit": True, "mistakes": mistakes}
    assert judged(text, asked).code == code


def test_what_is_off_is_told_with_how_it_was_read() -> None:
    outcome = judged(r"$v = \frac{9}{2}$ m/s", {"value": "7/2", "unit": "m/s"})
    assert outcome.detail == "read as ((9)/(2)) m/s; it is off by 28.57%"


def test_an_empty_answer_is_missing() -> None:
    with pytest.raises(Missing):
        judged("$…$", {"value": 1})


@pytest.mark.parametrize("text", ["m//s", "3 m", ""])
def test_what_is_no_unit_stops_the_rubric(text: str) -> None:
    with pytest.raises(ValueError, match="is no unit"):
        asked_unit(text)


@pytest.mark.parametrize(("text", "meant"), [("mb", "MB"), ("mbs", "MBs"), ("hz", "Hz"), ("kw h", "kW h")])
def test_a_unit_in_another_case_stops_the_rubric(text: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"'{text}' is no unit; did you mean '{meant}'"):
        asked_unit(text)


@pytest.mark.parametrize("text", ["KB", "MBs", "kbytes", "KBytes"])
def test_a_unit_in_a_usual_spelling_is_that_unit(text: str) -> None:
    assert dict(asked_unit(text).dimensions) == {"bit": 1}


@pytest.mark.parametrize("text", ["tokens", "heads", "mAP", "pts", "steps", "ops", "MACs"])
def test_other_words_are_units_of_their_own(text: str) -> None:
    assert asked_unit(text).factor == 1


@pytest.mark.parametrize(("text", "factor"), [("km/h", 1 / 3.6), ("kg m/s^2", 1), ("µm", 1e-6), ("GiB", 8 * 2**30)])
def test_units_are_worth_their_base_units(text: str, factor: float) -> None:
    assert asked_unit(text).factor == pytest.approx(factor)


def test_words_behind_a_number_are_no_unit() -> None:
    assert read_unit(" because of it", 0) is None
    (chain,) = chains_in(plain("3.5 min is enough"))
    assert (chain.members[0].text, chain.ends) == ("3.5 min", 7)


def test_a_comma_groups_or_parts() -> None:
    both = {
        "3,5": [3.5],
        "3,500": [3500, 3.5],
        "3.500": [3.5, 3500],
        "0,500": [0.5],
        "1,234,567": [1234567],
        "1'000": [1000],
    }
    assert {text: list(readings_of(text)) for text in both} == both


def test_the_same_number_in_two_forms_is_one_chain() -> None:
    answer = "t = 7/2 s ≈ 3.5 s, and 2 m"
    assert [[one.text for one in chain.members] for chain in chains_in(plain(answer))] == [["7/2 s", "3.5 s"], ["2 m"]]


BITS = [
    *(
        "3.5",
        "3,5",
        "7/2",
        "(",
        ")",
        "{",
        "}",
        "\\frac",
        "\\boxed{",
        "\\text{m}",
        "m/s",
        "^",
        "^{-1}",
        "±",
        "≈",
        "=",
        "v",
    ),
    *(
        "v =",
        "or",
        "not",
        "%",
        "10^",
        "-",
        "–",
        "×",
        "\n",
        "\n\n",
        "- ",
        "so",
        "½",
        "²",
        "1e400",
        "9" * 50,
        "sqrt",
        "1/0",
        "∞",
        "_",
    ),
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(BITS), max_size=14), st.sampled_from(["", " "]))
def test_no_text_hurts(bits: list[str], between: str) -> None:
    text = between.join(bits)
    answer = Answer("1.a", "answers.md", 1, (Piece("prose", text, 1),))
    verdict = judge(answer, Key(3.5, asked_unit("m/s"), 0.01, names=("v",)))
    assert verdict.message
    assert chosen_in(text, {"v": "or", "3": "m/s"}) is not None
