"""Rotary positions against complex multiplication, and what makes them relative."""

from __future__ import annotations

from math import cos, sin

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.rope import apply_rotary_emb, precompute_rotary_emb


def rotated(x: torch.Tensor, position: int, cache: torch.Tensor) -> torch.Tensor:
    """x (d,) as if it stood at a position."""
    return apply_rotary_emb(x.expand(position + 1, -1), cache)[position]


def test_the_cache_holds_cosine_and_sine_of_the_papers_angles():
    cache = precompute_rotary_emb(6, 40)
    assert cache.shape == (40, 3, 2)
    for t in (0, 1, 39):
        for i in (1, 2, 3):
            angle = t * 10000 ** (-2 * (i - 1) / 6)
            assert cache[t, i - 1].tolist() == pytest.approx([cos(angle), sin(angle)], abs=1e-12)


PRECISIONS = [(torch.float64, 1e-10), (torch.float32, 1e-5)]


@pytest.mark.parametrize(("dtype", "atol"), PRECISIONS)
def test_rotation_is_complex_multiplication_of_neighbouring_pairs(dtype, atol):
    x, cache = torch.randn(2, 3, 5, 8, dtype=dtype), precompute_rotary_emb(8, 9)
    turns = torch.view_as_complex(cache[:5].contiguous())
    want = torch.view_as_real(torch.view_as_complex(x.double().reshape(2, 3, 5, 4, 2)) * turns).reshape(2, 3, 5, 8)
    got = apply_rotary_emb(x, cache)
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), want, atol=atol, rtol=0)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_scores_depend_on_the_offset_only(t, s, shift, seed):
    cache = precompute_rotary_emb(6, 128)
    q, k = torch.randn(2, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    here = rotated(q, t, cache) @ rotated(k, s, cache)
    there = rotated(q, t + shift, cache) @ rotated(k, s + shift, cache)
    assert abs(float(here - there)) < 1e-10


def test_lengths_are_kept_and_position_zero_is_the_identity():
    x, cache = torch.randn(4, 7, 8, dtype=torch.float64), precompute_rotary_emb(8, 7)
    turned = apply_rotary_emb(x, cache)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-10, rtol=0)
    torch.testing.assert_close(turned[:, 0], x[:, 0], atol=0, rtol=0)


def test_pairing_halves_instead_of_neighbours_gives_the_same_scores():
    q, k = torch.randn(2, 5, 8, dtype=torch.float64)
    cache = precompute_rotary_emb(8, 5)
    halves = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])  # neighbours (x₁,x₂) of ours are (xᵢ, x_{i+4}) there
    cos_t, sin_t = cache.unbind(-1)

    def turn_halves(x: torch.Tensor) -> torch.Tensor:
        first, second = x[:, :4], x[:, 4:]
        return torch.cat([first * cos_t - second * sin_t, first * sin_t + second * cos_t], dim=-1)

    want = turn_halves(q[:, halves]) @ turn_halves(k[:, halves]).T
    torch.testing.assert_close(apply_rotary_emb(q, cache) @ apply_rotary_emb(k, cache).T, want, atol=1e-10, rtol=0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: precompute_rotary_emb(5, 4), "even width"),
        (lambda: apply_rotary_emb(torch.ones(5, 6), precompute_rotary_emb(6, 4)), "5×6.*4 positions"),
        (lambda: apply_rotary_emb(torch.ones(3, 8), precompute_rotary_emb(6, 4)), "3×8"),
    ],
)
def test_bad_input_is_refused_with_its_shape(call, words):
    with pytest.raises(ValueError, match=words):
        call()
