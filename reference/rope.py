"""Rotary positions: a query or key at position t is turned by t·θᵢ in its i-th plane.

Equation    (x₂ᵢ₋₁, x₂ᵢ) ↦ (x₂ᵢ₋₁ cos tθᵢ − x₂ᵢ sin tθᵢ,  x₂ᵢ₋₁ sin tθᵢ + x₂ᵢ cos tθᵢ)
            with θᵢ = 10000^(−2(i−1)/d), so that rotate(q, t)·rotate(k, s) depends on t and s by t − s only.
Convention  i = 1 … d/2, positions from 0; the cache is (T, d/2, 2) and holds [cos, sin] in its last axis.
Readings    * The planes are neighbours here, (x₁,x₂), (x₃,x₄), …; some libraries pair (xᵢ, x_{i+d/2}). Either
              is a permutation of the features of q and k alike, and leaves every score q·k as it is.
            * A docstring that went round with this exercise has +2(i−1)/d in the exponent. The minus sign of
              the paper is right: angles shrink from plane to plane, from 1 towards 1/10000.
            * Only q and k are turned; v carries no position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reference.equations import Array, Values, library
from reference.shapes import require, shape_text

if TYPE_CHECKING:
    from torch import Tensor


def angles(dim: int, positions: int) -> Array:
    """t·θᵢ in float64: (positions, dim/2). At t = 127 a float32 angle is off by 10⁻⁵ already."""
    return np.outer(np.arange(positions), 10000.0 ** (-2.0 * np.arange(dim // 2) / dim))


def rotate(x: Values, cos: Values, sin: Values) -> Values:
    """Turn neighbouring features of x (…, T, d) by angles whose cosines and sines are (T, d/2)."""
    first, second = x[..., 0::2], x[..., 1::2]  # 2 × (…, T, d/2)
    turned = library(x).stack([first * cos - second * sin, first * sin + second * cos], axis=-1)  # (…, T, d/2, 2)
    result: Values = turned.reshape(x.shape)  # (…, T, d)
    return result


def turn(x: Array, angle: Array, pairs: Array) -> Array:
    """Rotate features pairs[i] of x (…, T, d) by angle[t, i], whichever features are paired."""
    order, turned = pairs.ravel(), np.empty_like(x)
    turned[..., order] = rotate(x[..., order], np.cos(angle), np.sin(angle))
    return turned


def precompute_rotary_emb(dim: int, max_positions: int) -> Tensor:
    """The cache of cosines and sines in float64, (max_positions, dim/2, 2); rounded to x's type when applied."""
    fits = dim >= 2 and dim % 2 == 0 and max_positions >= 1
    require(fits, f"rotations need an even width and at least one position, not {dim} and {max_positions}")
    import torch  # numpy alone judges with what is above

    turns = angles(dim, max_positions)  # (T, d/2)
    return torch.from_numpy(np.stack([np.cos(turns), np.sin(turns)], axis=-1))  # (T, d/2, 2)


def apply_rotary_emb(x: Tensor, rope_cache: Tensor) -> Tensor:
    """Turn x (…, T, d) by the first T rows of the cache; lengths are unchanged."""
    tokens, width = x.shape[-2:]
    positions, planes = rope_cache.shape[:2]
    cache = f"a cache of {positions} positions and {planes} planes (two features each)"
    require(width == 2 * planes and tokens <= positions, f"x {shape_text(x)} does not fit {cache}")
    turned: Tensor = rotate(x, *rope_cache[:tokens].to(x.dtype).unbind(dim=-1))  # (…, T, d)
    return turned
