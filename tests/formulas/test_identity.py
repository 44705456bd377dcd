"""Whether two formulas are the same function of their symbols: sampled, and proved where both are numbers."""

from __future__ import annotations

import numpy as np
import pytest

from grader.formulas.provers import identity
from grader.formulas.typing.shapes import typed
from grader.formulas.typing.vocabulary import Declared, Vocabulary
from tests.formulas.spelling_out import read

ROOTS = Vocabulary((Declared("Q", ("d", "n")), Declared("K", ("d", "m")), Declared("β")), ("d", "n", "m"))


@pytest.mark.parametrize(
    ("text", "key", "holds", "renamed", "is_proved"),
    [
        ("1/sqrt(d)", "d^{-1/2}", True, "", True),
        ("sqrt(d)/d", "1/sqrt(d)", True, "", True),
        ("1/d", "1/sqrt(d)", False, "", False),
        ("K^T Q", "(Q^T K)^T", True, "", False),
        ("K^T Q", "Q^T K", False, "", False),
        ("softmax(K^T Q)", "softmax(Q^T K)^T", False, "", False),
        ("1/(1 + exp(x))", "exp(-c)/(1 + exp(-c))", True, "x for c", False),
        ("x + 2 y", "2 c + e_1", True, "y for c, x for e_1", False),
        ("β + 1/10^6", "β", False, "", False),
        ("log(0)", "β", False, "", False),
    ],
)
def test_identity(text: str, key: str, holds: bool, renamed: str, is_proved: bool) -> None:
    found, wanted = typed(read(text, ROOTS), ROOTS), read(key, ROOTS)
    agreement = identity.agree(found, wanted, ROOTS, np.random.default_rng(5))
    assert (agreement.holds, agreement.renamed) == (holds, renamed)
    assert identity.proved(found, wanted) is is_proved


def test_a_capital_sigma_with_bounds_is_a_sum() -> None:
    assert read(r"\Sigma_{i=1}^m a_i a_i^T") == read(r"\sum_{i=1}^m a_i a_i^T")
