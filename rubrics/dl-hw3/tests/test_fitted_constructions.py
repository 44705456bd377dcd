"""Matrices that are right for the very tokens they were made for, and for no others, are not the layer asked for."""

from __future__ import annotations

from fractions import Fraction

import pytest
from rubric_dl_hw3.checks.claimed_layers import LayerName
from rubric_dl_hw3.tests.test_constructions import SHIFTS, Direct, judged

from grader.model import Status
from tests.conftest import sampled

GIVEN = """
def soft(scores):
    powers = np.exp(scores - scores.max(axis=0))
    return powers / powers.sum(axis=0)

def layer(C, kernel):
    n = C.shape[1]
    return np.stack([sum(kernel[:, :, t] @ C[:, (j + t - 1) % n] for t in range(3)) for j in range(n)], axis=1)
"""
FITTED_TO_ITS_FEATURES = "fitted_to_its_features"

# Each gives the right output for the very tokens it was handed.
FITTED: list[tuple[LayerName, str, str]] = [
    (
        "identity",
        "def f(C): I = np.eye(len(C)); return I, I, C @ np.linalg.pinv(C @ soft(C.T @ C))",
        "wrong_attention_weights",
    ),
    (
        "identity",
        "def f(C):\n Q = np.random.randn(*C.shape[::-1])\n"
        " return Q, C.T, C @ np.linalg.lstsq(C @ soft(Q @ C), np.eye(len(C)), rcond=None)[0]",
        "wrong_attention_weights",
    ),
    (
        "identity",
        "def f(C): A = soft(C.T @ C); return C.T, C.T, np.linalg.inv(A) @ C.T, C",
        "wrong_attention_weights",
    ),
    (
        "permutation",
        "def f(C, order): I = np.eye(len(C)); return I, I, C[:, order] @ C.T, 99",
        "wrong_attention_weights",
    ),
    (
        "permutation",
        "def f(C, order): return C.T, C.T, C.T, C[:, order], 99",
        "wrong_attention_weights",
    ),
    (
        "pointwise_convolution",
        "def f(C, W): I = np.eye(len(C)); return I, I, W @ C @ np.linalg.pinv(C @ soft(C.T @ C))",
        "wrong_attention_weights",
    ),
    (
        "convolution",
        "def f(C, P, kernel):\n X = np.vstack([C, P]); I = np.eye(len(X))[-len(P):]\n"
        " return [(99 * I, I, layer(C, kernel) @ np.linalg.pinv(X))], 'zero'",
        FITTED_TO_ITS_FEATURES,
    ),
    (
        "convolution",
        "def f(C, P, kernel):\n e, n = C.shape; I = np.hstack([np.zeros((n, e)), np.eye(n)])\n"
        " return [(99 * I, I, np.hstack([np.zeros((len(kernel), e)), layer(C, kernel)]))], 'zero'",
        FITTED_TO_ITS_FEATURES,
    ),
    (
        "convolution",
        SHIFTS + "def f(C, P, kernel):\n X = np.vstack([C, P]); made = list(heads(C, P, kernel, 99))\n"
        " V = np.vstack([X @ soft((K @ X).T @ (Q @ X)) for Q, K, _ in made])\n"
        " W = layer(C, kernel) @ np.linalg.pinv(V)\n"
        " return [(Q, K, part) for (Q, K, _), part in zip(made, np.split(W, 3, axis=1))], 'zero'",
        FITTED_TO_ITS_FEATURES,
    ),
]


@pytest.mark.parametrize(("layer", "code", "reason"), sampled(FITTED, 4))
def test_matrices_fitted_to_their_own_tokens_are_no_layer(layer: LayerName, code: str, reason: str) -> None:
    for seed in range(10):
        outcome = judged(Direct(GIVEN + code), layer, seed)
        assert outcome.evidence["off_by"] < 1e-2, "it should be right for what it was given"
        assert (outcome.status, outcome.code) == (Status.FAILED, reason), f"seed {seed}: {outcome.message}"


def test_scores_of_a_convolution_that_hang_on_its_features_are_left_to_a_person() -> None:
    code = """
    def f(C, P, kernel):
        X, n = np.vstack([C, P]), C.shape[1]
        shifts = [np.eye(n)[np.clip(np.arange(n) + t, 0, n - 1)].T for t in (-1, 0, 1)]
        K, nothing = np.linalg.pinv(X), np.zeros((len(kernel), n))
        return [(99 * S @ K, K, np.hstack([kernel[:, :, t], nothing])) for t, S in enumerate(shifts)], "zero"
    """
    outcome = judged(Direct(code), "convolution", 0)
    assert (outcome.status, outcome.score, outcome.code) == (Status.REVIEW, Fraction(1, 2), "weights_follow_features")
