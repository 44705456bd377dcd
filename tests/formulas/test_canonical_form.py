"""Formulas that are the same thing are written in one way, and others are not."""

from __future__ import annotations

import time

import pytest

from grader.formulas.answer.asked_for import expression
from grader.formulas.answer.growth_claims import GrowthClaim
from grader.formulas.provers.canonical_form import canonical, canonical_up_to_scale
from grader.formulas.typing.shapes import typed
from tests.formulas.spelling_out import BASES, KEYS


def query(text: str, claim: GrowthClaim | None = None) -> str:
    found = typed(expression(text, KEYS), KEYS).expression
    return canonical_up_to_scale(found, KEYS, dict.fromkeys(KEYS.free(found), claim or GrowthClaim()))


@pytest.mark.parametrize(
    ("same", "form"),
    [
        (
            (
                r"\beta (k_a + k_b)",
                "C*(k_b + k_a)",
                "2 λ k_b + 2 k_a λ",
                r"\frac{\lambda^2}{2} (k_a + k_b)",
                r"\beta \sum_{i \in \{a, b\}} k_i",
                r"\sqrt{d} C (k_a + k_b) / n",
            ),
            "β(k_a + k_b)",
        ),
        (("1/2 (k_a + k_b)", r"\frac{k_a}{2} + \frac{k_b}{2}"), "1/2(k_a + k_b)"),  # a number is no free scale
        (("k_a + k_b", "(2 k_a + 2 k_b)/2"), "k_a + k_b"),
        (("β k_a + γ k_b", "γ k_b + δ k_a", "α k_b + c k_a"), "β k_a + γ k_b"),
        (("-β (k_a + k_b)", "-(C k_b + C k_a)"), "β(-k_a - k_b)"),  # only a positive factor is left out
        (("β (k_a + 2 k_b)",), "β(k_a + 2 k_b)"),
    ],
)
def test_queries_that_differ_in_scale_and_letters_only_are_one(same: tuple[str, ...], form: str) -> None:
    assert {query(text) for text in same} == {form}


def test_a_letter_that_does_not_grow_is_no_scale() -> None:
    small, negative = GrowthClaim("small", "+"), GrowthClaim("", "−")
    forms = {query("β (k_a + k_b)", claim) for claim in (None, small, negative)}
    assert forms == {"β(k_a + k_b)", "β(k_a + k_b); β small", "β(k_a + k_b); β negative"}


@pytest.mark.parametrize(
    ("same", "form"),
    [
        (("A A^T", r"A \cdot A^\top", "A @ A.T", "2 A A'/2", "A I A^T"), "A Aᵀ"),
        (("I - B B^T", "-BB^T + I"), "-B Bᵀ + I"),
        (("A A^T A A^T",), "A Aᵀ A Aᵀ"),  # matrices keep their order: rules of the question are the prover's
    ],
)
def test_matrices_are_multiplied_out_and_keep_their_order(same: tuple[str, ...], form: str) -> None:
    vocabulary = BASES
    assert {canonical(typed(expression(text, vocabulary), vocabulary).expression, vocabulary) for text in same} == {
        form
    }


@pytest.mark.parametrize("long", ["(" + " + ".join("bcefghmp") + ")^4 k_a", "(2 β^9)^40 k_a", "β " * 150 + "k_a"])
def test_what_grows_too_long_is_left_as_it_was_written(long: str) -> None:
    began = time.process_time()
    assert len(query(long)) < 2000
    assert time.process_time() - began < 1
