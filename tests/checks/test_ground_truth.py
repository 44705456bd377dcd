"""The reference answers a question once for a whole class, and nobody can change its answer."""

from __future__ import annotations

import numpy as np
import pytest

from grader.checks.functions.ground_truth import reference_function
from tests.conftest import reference_of, the_rubric

ATTENTION = reference_of(the_rubric("tests/rubrics/small-class/rubric.yaml"), "1.a")


def test_the_same_question_gets_the_same_answer_and_another_another() -> None:
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(4, 3)), rng.normal(size=(4, 5)), rng.normal(size=(2, 5))
    right = reference_function(ATTENTION)
    first = right(Q, K, V, 1.0)
    assert reference_function(ATTENTION)(Q.copy(), K, V, 1.0) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 0
    for other in ((Q, K, V, 2.0), (Q + 1, K, V, 1.0), (Q.astype(np.float32), K, V, 1.0), (Q, K, 2 * V, 1.0)):
        assert not np.array_equal(right(*other), first)
    assert right(Q[:, :2], K, V, 1.0).shape == (2, 2)


def test_a_changed_question_is_asked_anew() -> None:
    Q, K, V = np.ones((2, 2)), np.eye(2), np.arange(4.0).reshape(2, 2)
    right = reference_function(ATTENTION)
    before = right(Q, K, V, 1.0)
    V += 1
    assert np.allclose(right(Q, K, V, 1.0), before + 1)
