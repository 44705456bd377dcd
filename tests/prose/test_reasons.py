"""Two reasons are two unless one is told as the effect of the other."""

from __future__ import annotations

import pytest

from grader.model import Piece
from grader.prose import Idea, judge

REASONS = [Idea(id=word, label=f"what of {word}", says=[word]) for word in ("rumours", "trust", "law")]

TWO = [
    "It spreads rumours. It costs trust.",
    "Rumours and law are two worries.",
    "First, rumours. Second, people lose trust because of mistakes.",
    "Rumours, e.g. about a singer, and trust, e.g. in a bank.",
    "It spreads rumours. Also, so many mistakes cost trust.",
    "Rumours cost trust, so they are bad. Apart from that, think of all the rest. Trust is a reason of its own.",
]
ONE = [
    "It spreads rumours, so people lose trust.",
    "It spreads rumours. As a result, people lose trust.",
    "People lose trust because of the rumours.",
    "Rumours lead to a loss of trust.",
    "It spreads rumours. For example, a man of law believes them.",
]


def _found(text: str, distinct: bool = True) -> int:
    return len(judge((Piece("prose", text, 1),), REASONS, distinct=distinct).found)


@pytest.mark.parametrize("text", TWO)
def test_reasons_told_apart_are_two(text: str) -> None:
    assert _found(text) == 2


@pytest.mark.parametrize("text", ONE)
def test_a_cause_and_its_effect_are_one(text: str) -> None:
    assert _found(text) == 1
    assert _found(text, distinct=False) == 2


def test_a_third_reason_counts_beside_a_cause_and_its_effect() -> None:
    judged = judge((Piece("prose", ONE[0] + " The law forbids it.", 1),), REASONS, distinct=True)
    assert (sorted(judged.found), judged.same_reason) == (["law", "rumours"], ("trust",))
