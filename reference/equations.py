# numpy and torch share no type that has these operations, so what they give is not checked.
# mypy: disable-error-code="no-any-return"
"""The equations of a Transformer, each written once: on numpy arrays they judge, on torch tensors they learn.

Equation    softmax(s)ᵢ = exp(sᵢ) / Σⱼ exp(sⱼ)
            LayerNorm(x) = g ⊙ (x − mean(x)) / √(var(x) + ε) + b, over the features of one token
            attention(q, k, v) = softmax(qkᵀ/√d + mask) v
            GELU(x) = x Φ(x), with the exact Φ
Convention  tokens are rows, (…, T, D); D features are split into H heads of d = D/H, head h taking features
            h·d … (h+1)·d − 1. A mask is boolean, True = may attend: queries are its rows, keys its columns.
Readings    * var is the biased one (divide by D, not D − 1) and ε stands in the root, as in `nn.LayerNorm`.
            * A query that may attend to nothing gets zeros, not NaN and not the mean of everything.
            * numpy and torch name alike what is used here, so that a judged value and a trained one cannot part.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reference.shapes import require_dot_product

Array = NDArray[Any]
Function = Callable[[Array], Array]
Values = TypeVar("Values", bound=Any)  # numpy arrays or torch tensors; what comes out is of the same kind

EPSILON = 1e-5  # torch's


def library(x: Values) -> Any:
    """numpy, or torch if x is a tensor."""
    return np if isinstance(x, np.ndarray | np.generic) else sys.modules["torch"]


def softmax(scores: Values, axis: int = -1) -> Values:
    """exp(s) normalised along `axis`. The largest score is taken off first, so no exp can overflow."""
    lib = library(scores)
    top = lib.amax(scores, axis=axis, keepdims=True)
    powers = lib.exp(scores - lib.where(lib.isfinite(top), top, 0.0))  # where all are −∞, nothing needs to be taken off
    return powers / powers.sum(axis=axis, keepdims=True)


def layer_norm(x: Values, gain: Values, shift: Values, epsilon: float = EPSILON) -> Values:
    """g ⊙ (x − mean) / √(var + ε) + b over the last axis."""
    centred = x - x.mean(axis=-1, keepdims=True)  # (…, D)
    variance = (centred**2).mean(axis=-1, keepdims=True)  # (…, 1), biased
    return centred / (variance + epsilon) ** 0.5 * gain + shift  # (…, D)


def attention(q: Values, k: Values, v: Values, mask: Any = None) -> Values:
    """softmax(qkᵀ/√d)v over the last two axes, with the leading axes broadcast against each other."""
    require_dot_product(q, k, v)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])  # (…, T, S)
    if mask is None:
        return softmax(scores) @ v  # (…, T, d_v)
    lib = library(scores)
    # The lowest finite number, not −∞: a row of −∞ has a NaN softmax and, worse, NaN gradients. Multiplying by the mask
    # afterwards changes only rows with nothing to attend to (exp already underflowed elsewhere).
    hidden = lib.where(mask, scores, lib.finfo(scores.dtype).min)  # (…, T, S)
    return (softmax(hidden) * mask) @ v  # (…, T, d_v)


def split_heads(x: Values, heads: int) -> Values:
    """(B, T, D) → (B, H, T, D/H)."""
    batch, tokens, width = x.shape
    return x.reshape(batch, tokens, heads, width // heads).swapaxes(1, 2)


def join_heads(x: Values) -> Values:
    """(B, H, T, D/H) → (B, T, D): the inverse of `split_heads`."""
    batch, heads, tokens, size = x.shape
    return x.swapaxes(1, 2).reshape(batch, tokens, heads * size)


def causal_mask(queries: int, keys: int) -> NDArray[np.bool_]:
    """True where query t may attend to key s, that is s ≤ t."""
    return np.tri(queries, keys, dtype=np.bool_)  # (T, S)


def relu(x: Values) -> Values:
    return library(x).where(x > 0, x, 0.0)


_erf = np.vectorize(math.erf, otypes=[np.float64])


def gelu(x: Values) -> Values:
    """x Φ(x), as in GPT and ViT."""
    erf = _erf if isinstance(x, np.ndarray) else library(x).erf
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_by_tanh(x: Values) -> Values:
    """The fit of GELU that GPT-2's code has."""
    return 0.5 * x * (1 + library(x).tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: Values) -> Values:
    return x / (1 + library(x).exp(-x))


def identity(x: Values) -> Values:
    return x


ACTIVATIONS: dict[str, Function] = {"GELU": gelu, "ReLU": relu, "GELU by tanh": gelu_by_tanh, "SiLU": silu}
