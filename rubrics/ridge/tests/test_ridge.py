"""The reference of ridge regression, against a second derivation."""

from __future__ import annotations

import numpy as np
import pytest
from rubric_ridge.checks import ridge_regression
from rubric_ridge.public import regressions


def test_the_reference_is_least_squares_on_points_that_shrink() -> None:
    for case in regressions(np.random.default_rng(0)):
        X, y, lam = case.args
        more_X = np.vstack([X, np.sqrt(lam) * np.eye(X.shape[1])])
        more_y = np.concatenate([y, np.zeros(X.shape[1])])
        assert np.allclose(ridge_regression(X, y, lam), np.linalg.lstsq(more_X, more_y, rcond=None)[0])


def test_the_gradient_vanishes_at_the_reference() -> None:
    for case in regressions(np.random.default_rng(1)):
        X, y, lam = case.args
        w = ridge_regression(X, y, lam)
        assert X.T @ (X @ w - y) + lam * w == pytest.approx(np.zeros(X.shape[1]), abs=1e-9)
