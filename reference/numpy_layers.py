"""The layers of encoder and language model in numpy, rows as tokens, with a batch in front.

In numpy, so that the grader itself need not load torch. Tests hold them against `reference.transformer`,
`reference.gpt` and `reference.rope`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Function = Callable[[Array], Array]

_erf = np.vectorize(math.erf, otypes=[np.float64])
_EPSILON = 1e-5  # torch's; another one moves values by far less than the tolerance


def _gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + _erf(x / math.sqrt(2))))


def _gelu_by_tanh(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def _silu(x: Array) -> Array:
    return np.asarray(x / (1 + np.exp(-x)))


ACTIVATIONS: dict[str, Function] = {
    "GELU": _gelu,
    "ReLU": _relu,
    "GELU by tanh": _gelu_by_tanh,
    "SiLU": _silu,
}


def layer_norm(x: Array, gain: Array, shift: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt(variance + _EPSILON) * gain + shift)


def softmax(scores: Array, axis: int = -1) -> Array:
    top = scores.max(axis=axis, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def identity(x: Array) -> Array:
    return x


def split_heads(x: Array, heads: int) -> Array:
    """(B, T, D) → (B, H, T, D/H)."""
    batch, tokens, width = x.shape
    return x.reshape(batch, tokens, heads, width // heads).transpose(0, 2, 1, 3)


def join_heads(x: Array) -> Array:
    """(B, H, T, D/H) → (B, T, D)."""
    batch, heads, tokens, size = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, tokens, heads * size)


def future(queries: int, keys: int, first: int = 1) -> Array:
    """True where key s lies `first` rows or more behind query t."""
    return ~np.tri(queries, keys, first - 1, dtype=bool)


def masked(scores: Array, hidden: Array) -> Array:
    """So far below all others, where `hidden`, that a softmax gives them nothing."""
    return np.asarray(np.where(hidden, -1e10, scores))


def turn(x: Array, angle: Array, pairs: Array) -> Array:
    """Rotate features pairs[i] of x (…, T, D) by angle[t, i]."""
    first, second = x[..., pairs[:, 0]], x[..., pairs[:, 1]]
    cos, sin = np.cos(angle), np.sin(angle)
    turned = x.copy()
    turned[..., pairs[:, 0]] = first * cos - second * sin
    turned[..., pairs[:, 1]] = first * sin + second * cos
    return turned


def angles(dim: int, positions: int) -> Array:
    """t·θᵢ with t from 0 and θᵢ = 10000^(−2(i−1)/dim): (positions, dim/2)."""
    return np.outer(np.arange(positions), 10000.0 ** (-2.0 * np.arange(dim // 2) / dim))
