"""The numpy attention against loops, torch's own attention, and the properties any attention has."""

from __future__ import annotations

import subprocess
import sys
from math import exp, sqrt

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from reference.attention import (
    attention,
    causal_mask,
    cross_attention,
    multi_head_attention,
    row_attention,
    self_attention,
    single_query_attention,
    softargmax,
    softmax,
)

sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)


def matrices(seed: int, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def looped_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, beta: float, mask: np.ndarray) -> np.ndarray:
    """The definition, one query and one key at a time, with no array operation."""
    H = np.zeros((len(V), Q.shape[1]))
    for j in range(Q.shape[1]):
        allowed = [i for i in range(K.shape[1]) if mask[i, j]]
        weights = [exp(beta * sum(K[r, i] * Q[r, j] for r in range(len(K)))) for i in allowed]
        for i, weight in zip(allowed, weights, strict=True):
            for t in range(len(V)):
                H[t, j] += V[t, i] * weight / sum(weights)
    return H


@given(seeds, sizes, sizes, sizes, sizes, st.floats(0.01, 3))
@settings(max_examples=50, deadline=None)
def test_equals_an_explicit_loop_for_every_shape_and_mask(seed, d, n, m, t, beta):
    Q, K, V, chances = matrices(seed, (d, n), (d, m), (t, m), (m, n))
    mask = chances > -0.5
    np.testing.assert_allclose(attention(Q, K, V, beta, mask), looped_attention(Q, K, V, beta, mask), atol=1e-10)


@given(seeds, sizes, sizes, sizes, sizes)
@settings(max_examples=50, deadline=None)
def test_row_convention_equals_torch_with_and_without_a_mask(seed, d, n, m, t):
    Q, K, V, chances = matrices(seed, (n, d), (m, d), (m, t), (n, m))
    mask = chances > -0.5
    q, k, v = (torch.from_numpy(x) for x in (Q, K, V))
    for allowed in (None, mask):
        torch_mask = None if allowed is None else torch.from_numpy(allowed)
        want = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=torch_mask)[0]
        np.testing.assert_allclose(row_attention(Q, K, V, allowed), want.numpy(), atol=1e-10)


def test_float32_inputs_agree_with_torch_in_float32_to_1e_5():
    Q, K, V = (x.astype(np.float32) for x in matrices(1, (5, 8), (7, 8), (7, 3)))
    want = F.scaled_dot_product_attention(*(torch.from_numpy(x)[None] for x in (Q, K, V)))[0]
    np.testing.assert_allclose(row_attention(Q, K, V), want.numpy(), atol=1e-5)


@given(seeds, sizes, sizes, st.floats(-5, 5))
@settings(max_examples=50, deadline=None)
def test_columns_sum_to_one_and_ignore_a_shift(seed, m, n, shift):
    (scores,) = matrices(seed, (m, n))
    weights = softargmax(scores, 2.0)
    np.testing.assert_allclose(weights.sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(softargmax(scores + shift, 2.0), weights, atol=1e-12)


def test_softmax_runs_over_the_last_axis():
    (scores,) = matrices(0, (3, 4))
    np.testing.assert_allclose(softmax(scores), torch.from_numpy(scores).softmax(-1).numpy(), atol=1e-12)


def test_extreme_scores_stay_finite_and_pick_the_largest():
    np.testing.assert_array_equal(softargmax([1e4, -1e4, 9e3]), [1, 0, 0])
    np.testing.assert_array_equal(softargmax([1e308, -1e308], beta=1e-300).round(6), [1, 0])


@given(seeds, sizes, sizes, sizes)
@settings(max_examples=30, deadline=None)
def test_outputs_are_convex_combinations_of_values(seed, d, m, t):
    Q, K, V = matrices(seed, (d, 3), (d, m), (t, m))
    H = attention(Q, K, V, 1.0)
    assert (V.max(axis=1, keepdims=True) + 1e-12 >= H).all()
    assert (V.min(axis=1, keepdims=True) - 1e-12 <= H).all()


def test_permuting_tokens_permutes_the_output_and_permuting_keys_changes_nothing():
    C, W_Q, W_K, W_V, W_O = matrices(3, (4, 5), (6, 4), (6, 4), (6, 4), (4, 6))
    order = np.random.default_rng(3).permutation(5)
    H = multi_head_attention(C, W_Q, W_K, W_V, W_O, 2)
    np.testing.assert_allclose(multi_head_attention(C[:, order], W_Q, W_K, W_V, W_O, 2), H[:, order], atol=1e-12)
    np.testing.assert_allclose(cross_attention(C, C[:, order], W_Q, W_K, W_V, W_O, 2), H, atol=1e-12)


def test_a_fully_masked_query_gets_zeros_and_leaves_the_others_alone():
    Q, K, V = matrices(4, (3, 2), (3, 4), (2, 4))
    mask = np.ones((4, 2), dtype=bool)
    mask[:, 0] = False
    H = attention(Q, K, V, 1.0, mask)
    np.testing.assert_array_equal(H[:, 0], 0)
    np.testing.assert_allclose(H[:, 1], attention(Q, K, V, 1.0)[:, 1], atol=1e-15)
    np.testing.assert_array_equal(softargmax([-np.inf, -np.inf]), [0, 0])


def test_causal_self_attention_does_not_see_later_tokens():
    C, W_Q, W_K, W_V = matrices(5, (4, 6), (3, 4), (3, 4), (2, 4))
    before = self_attention(C, W_Q, W_K, W_V, causal_mask(6))
    C[:, 4:] += 1
    after = self_attention(C, W_Q, W_K, W_V, causal_mask(6))
    np.testing.assert_array_equal(after[:, :4], before[:, :4])
    assert not np.allclose(after[:, 4:], before[:, 4:])


@pytest.mark.parametrize("heads", [1, 2, 3, 6])
def test_multi_head_equals_torchs_layer_with_its_weights(heads):
    e, n = 6, 5
    C, W_Q, W_K, W_V, W_O = matrices(heads, (e, n), (e, e), (e, e), (e, e), (e, e))
    layer = torch.nn.MultiheadAttention(e, heads, bias=False, dtype=torch.float64, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.from_numpy(np.concatenate([W_Q, W_K, W_V])))
        layer.out_proj.weight.copy_(torch.from_numpy(W_O))
    x = torch.from_numpy(C.T)[None]
    mask = causal_mask(n)
    want, _ = layer(x, x, x, attn_mask=torch.from_numpy(~mask.T.copy()), need_weights=False)
    got = multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask)
    np.testing.assert_allclose(got, want[0].T.detach().numpy(), atol=1e-10)


def test_cross_attention_takes_lengths_and_widths_that_differ():
    C, D, W_Q, W_K, W_V, W_O = matrices(6, (4, 3), (5, 7), (6, 4), (6, 5), (6, 5), (2, 6))
    H = cross_attention(C, D, W_Q, W_K, W_V, W_O, 3)
    heads = []
    for rows in (slice(0, 2), slice(2, 4), slice(4, 6)):
        A = np.exp((W_K[rows] @ D).T @ (W_Q[rows] @ C) / sqrt(2))
        heads.append(W_V[rows] @ D @ (A / A.sum(axis=0)))
    np.testing.assert_allclose(H, W_O @ np.vstack(heads), atol=1e-10)


def test_one_query_copies_the_value_whose_key_matches():
    keys, values = np.eye(4), np.arange(12.0).reshape(4, 3)
    alpha, c = single_query_attention(50 * keys[2], keys, values)
    np.testing.assert_allclose(alpha, [0, 0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(c, values[2], atol=1e-12)


def test_inputs_are_left_unchanged():
    Q, K, V = matrices(7, (3, 2), (3, 4), (2, 4))
    copies = Q.copy(), K.copy(), V.copy()
    attention(Q, K, V, 1.0, np.eye(4, 2, dtype=bool))
    for array, copy in zip((Q, K, V), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: attention(np.ones((3, 2)), np.ones((4, 2)), np.ones((1, 2)), 1), "3×2.*4×2"),
        (lambda: attention(np.ones((3, 2)), np.ones((3, 5)), np.ones((1, 4)), 1), "3×5.*1×4"),
        (lambda: attention(np.ones((3, 0)), np.ones((3, 5)), np.ones((1, 5)), 1), "3×0"),
        (lambda: attention([[np.nan]], [[1]], [[1]], 1), "Q .1×1. holds NaN"),
        (lambda: attention([[1]], [[1]], [[1]], 1, [[1]]), "boolean"),
        (lambda: attention([[1]], [[1]], [[1]], 1, [[True, False]]), "1×2"),
        (lambda: softargmax([]), "at least one score"),
        (lambda: softargmax([np.inf, 0]), "below infinity"),
        (lambda: softargmax([1, 0], beta=float("nan")), "finite β"),
        (lambda: single_query_attention([1, 2], np.ones((3, 2)), np.ones((4, 2))), "3×2.*4×2"),
        (
            lambda: multi_head_attention(np.ones((4, 3)), *[np.ones((6, 4))] * 3, np.ones((4, 6)), 4),
            "4 heads",
        ),
        (lambda: multi_head_attention(np.ones((4, 3)), *[np.ones((6, 4))] * 3, np.ones((4, 5)), 2), "4×5"),
        (
            lambda: multi_head_attention(np.ones((5, 3)), *[np.ones((6, 4))] * 3, np.ones((4, 6)), 2),
            "W_Q 6×4",
        ),
    ],
)
def test_bad_input_is_refused_with_its_shape(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.slow
def test_the_numpy_reference_loads_without_torch():
    modules = ("attention", "birthplaces", "span_corruption", "corpus", "closed_forms")
    imports = "; ".join(f"import reference.{module}" for module in modules)
    code = f"{imports}; import sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
