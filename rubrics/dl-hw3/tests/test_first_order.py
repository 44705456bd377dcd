"""A formula for a small change of the output goes in, and a score with a line that says why comes out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from rubric_dl_hw3.checks.formulas import first_order

from grader.formulas import HALF, Verdict, typed
from tests.formulas.spelling_out import read

ONE, NONE = Fraction(1), Fraction(0)


def _to_first_order(text: str, scales: bool) -> Verdict:
    vocabulary = first_order.SCALED if scales else first_order.SHIFTED
    formula = typed(read(text, vocabulary), vocabulary).expression
    return first_order.compared(formula, first_order.worlds(scales, np.random.default_rng(5)), text)


@pytest.mark.parametrize(
    ("text", "scales", "score", "code"),
    [
        ("β a_ij (v_i - h_j) q_j^T ε", False, ONE, ""),
        ("β a_ij v_i (q_j^T ε) - β a_ij h_j (ε^T q_j)", False, ONE, ""),
        ("β a_ij (v_i - h_j) q_j^T k_i (α - 1)", True, ONE, ""),
        ("a_ij (v_i - h_j) q_j^T ε", False, HALF, "beta_left_out"),
        ("β a_ij (h_j - v_i) q_j^T ε", False, NONE, "wrong_sign"),
        ("β a_ij v_i q_j^T ε", False, NONE, "formula_wrong"),
        ("β a_ij (v_i - h_j) q_j^T k_i α", True, NONE, "not_zero_unchanged"),
        ("h_j", False, NONE, "not_zero_unchanged"),
        ("β a_ij (v_i - h_j) ‖ε‖^2", False, NONE, "formula_wrong"),
    ],
)
def test_perturbation(text: str, scales: bool, score: Fraction, code: str) -> None:
    verdict = _to_first_order(text, scales)
    assert (verdict.score, verdict.code) == (score, code)
