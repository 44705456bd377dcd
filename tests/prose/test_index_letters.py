"""Another letter for the index that a question singles out."""

from __future__ import annotations

import pytest

from grader.model import Piece
from grader.prose import Idea, judge

AHEAD = Idea(id="ahead", label="which key is ahead", says=['"k_j q ≫ k_i"', '"c ≈ v_j"', '"c .. ≈ v_j"'])

RIGHT = [
    "k_j q ≫ k_i q for all i ≠ j",
    "k_i q ≫ k_j q for all j ≠ i",
    "k_m q ≫ k_l q, l ≠ m",
    "k_j q ≫ k_i q",
    "c ≈ v_i",
    r"$c = \sum_j \alpha_j v_j \approx v_i$",
]
WRONG = [
    "k_i q ≫ k_j q for all i ≠ j",
    "k_j q ≫ k_i q for all j ≠ i",  # here i is the one that should be ahead
    "k_i q ≫ k_j q",  # nothing says that i is singled out
    "c ≈ v_i, not v_j",
    r"$c = \sum_i \alpha_i v_i$",
]


def _is_ahead(text: str, index: str = "ji") -> bool:
    return "ahead" in judge((Piece("prose", text, 1),), [AHEAD], index=index).found


@pytest.mark.parametrize("text", RIGHT)
def test_the_letter_is_the_students_choice(text: str) -> None:
    assert _is_ahead(text)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_said_of_another_key_stays_said_of_it(text: str) -> None:
    assert not _is_ahead(text)


def test_letters_stay_as_they_are_where_the_question_singles_none_out() -> None:
    assert not _is_ahead("k_i q ≫ k_j q for all j ≠ i", index="")
