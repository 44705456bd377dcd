"""Options are found as people choose them; what leaves the choice open goes to a person."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from grader.checks.choices import chooses_the_option
from grader.errors import RubricError
from grader.model import Status
from grader.prose.chosen_options import chosen_in
from grader.rubric.loading import load_rubric
from tests.checks.answering import answering

OPTIONS = {
    "a": "It shrinks every coefficient to zero",
    "b": "Bias grows and variance falls",
    "c": "The training loss falls",
    "d": "Bias falls and variance grows",
}
CHOSEN = {
    "b": [
        *("b", "(b)", "B.", "b)", "[b]", "option b", "Option (B)", "**b**", "$b$", "answer: b", "The answer is b."),
        *(
            "Bias grows and variance falls",
            "b) Bias grows and variance falls",
            "It is *bias grows, and variance falls*.",
        ),
        *("I think b because a is about the limit and c is false.", "b since variance falls", "only b", "b? maybe"),
        *(
            "neither a nor c; b",
            "It is b, not d",
            "It isn't c. b.",
            "b (not d, which is the opposite)",
            "- [x] b\n- [ ] c",
        ),
        *("I would pick B", "We choose b: the penalty adds bias.", "Because a larger penalty adds bias, b"),
    ],
    "d": ["not b but d", "b is wrong, so d", "b is not right; d"],
    "a": ["a", "A", "(a)", "option a"],
    "bd": [
        "b and d",
        "b, d",
        "b & d",
        "bd",
        "b.\nd.",
        "Both b and d",
        "(d) and (b)",
        "The correct options are b and d.",
    ],
}
UNCLEAR = [
    *("not b", "b or d", "Either b or c", "all of the above", "no idea", "e", "a model with large bias", "Bias grows"),
    *("b. Bias grows.\n\nSo the answer is d.", "the bias b of the model", "I am between b and c"),
]


@pytest.mark.parametrize("wanted", CHOSEN)
def test_a_choice_is_found(wanted: str) -> None:
    got = {text: chosen_in(text, OPTIONS) for text in CHOSEN[wanted]}
    assert {text: ("".join(one.options), one.unclear) for text, one in got.items()} == dict.fromkeys(got, (wanted, ""))


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_is_not_clear_is_left_to_a_person(text: str) -> None:
    assert chosen_in(text, OPTIONS).unclear
    outcome = chooses_the_option(answering(text), np.random.default_rng(0), options=OPTIONS, right=["b"])
    assert (outcome.status, outcome.score) == (Status.REVIEW, 0)


def test_numbers_are_labels_only_where_they_are_marked() -> None:
    options = {"1": "one way", "2": "two ways"}
    assert chosen_in("2)", options).options == ("2",)
    assert chosen_in("there are 2 of them", options).unclear


@pytest.mark.parametrize(
    ("text", "right", "partial", "score"),
    [
        ("b", ["b"], True, "1"),
        ("b and d", ["b"], True, "0"),
        ("b and d", ["b", "d"], False, "1"),
        ("b", ["b", "d"], True, "1/2"),
        ("b", ["b", "d"], False, "0"),
        ("b and c", ["b", "d"], True, "0"),
        ("a, b and d", ["b", "d"], True, "1/2"),
    ],
)
def test_wrong_options_cost_what_right_ones_earn(text: str, right: list[str], partial: bool, score: str) -> None:
    rng = np.random.default_rng(0)
    outcome = chooses_the_option(answering(text), rng, options=OPTIONS, right=right, partial=partial)
    assert outcome.score == Fraction(score)


def test_a_right_option_that_does_not_exist_stops_the_rubric(tmp_path: Path) -> None:
    rubric = tmp_path / "quiz.yaml"
    rubric.write_text(
        "rubric: quiz\ntitle: Quiz\npoints: 1\nproblems:\n  - id: 1.a\n    title: Choice\n    points: 1\n    checks:\n"
        "      - {check: chooses_the_option, points: 1, options: {a: one, b: two}, right: c}\n"
    )
    with pytest.raises(RubricError, match=r"quiz\.yaml:9: chooses_the_option: 'right' names 'c'; the options are a, b"):
        load_rubric(rubric)
