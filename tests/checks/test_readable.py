"""At home students are told whether an answer can be read, and nothing of whether it is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.answers import cut_into_parts
from grader.checks.formulas.key_variants import AskedFor
from grader.checks.formulas.readable import formula_can_be_read, is_answered
from grader.model import Answer, Outcome, Status

PROMPT = "Why may the weights be read as the probabilities of a categorical distribution?"


class _Sheet:
    """A student who only wrote."""

    def __init__(self, text: str) -> None:
        self.answer: Answer = cut_into_parts(f"# 1.a\n\n{text}\n", "answers.md", ["1.a"]).parts["1.a"]


def _judged(check: Any, text: str, **parameters: Any) -> Outcome:
    return check(_Sheet(text), np.random.default_rng(0), **parameters)


def test_words_of_one_s_own_are_an_answer_and_wrong_ones_too() -> None:
    for text in ("Each is positive and together they are one.", "Because the moon is made of cheese."):
        assert _judged(is_answered, text, prompt=PROMPT).status is Status.PASSED
    assert _judged(is_answered, PROMPT, prompt=PROMPT).code == "repeats_the_question"
    assert cut_into_parts("# 1.a\n\n…\n", "answers.md", ["1.a"]).parts == {}  # three dots are a place to write at


@pytest.mark.parametrize("text", ["$H = V K^T Q$", "$H = V K^T Q Q^T Q$"])
def test_a_formula_is_read_right_or_wrong(text: str) -> None:
    symbols = {"Q": "d×n", "K": "d×m", "V": "t×m", "d": "size", "n": "size", "m": "size", "t": "size"}
    outcome = _judged(formula_can_be_read, text, readings=[AskedFor(name="H", symbols=symbols)])
    assert outcome.status is Status.PASSED
    assert "H = V" in outcome.detail
    unread = _judged(formula_can_be_read, "$H = V ) K$", readings=[AskedFor(name="H", symbols=symbols)])
    assert (unread.status, unread.code) == (Status.REVIEW, "formula_unreadable")
