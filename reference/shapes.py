"""What the reference refuses: arrays that do not fit each other, empty ones, NaN and infinity.

Convention  a function here gives back its arrays, or nothing, and raises a ValueError that names the shapes:
            (3, 4) is written 3×4. The modules beside this one then hold their equations alone.
            torch is not imported: tensors are asked by their own methods, so that the numpy modules load without it.
"""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float64]


class HasShape(Protocol):
    @property
    def shape(self) -> tuple[int, ...]: ...


def shape_text(array: HasShape) -> str:
    """(3, 4) is written 3×4, a single number "scalar"."""
    return "×".join(str(size) for size in array.shape) or "scalar"


def require(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)


def require_one_of(name: str, value: str, known: Collection[str]) -> None:
    require(value in known, f"{name} must be one of {', '.join(known)}, not {value!r}")


def require_even_heads(heads: int, features: int) -> None:
    require(
        min(heads, features) >= 1 and features % heads == 0, f"{heads} heads do not divide {features} features evenly"
    )


# ---- numpy arrays, tokens in columns ----


def finite_array(name: str, value: ArrayLike, axes: int) -> Array:
    """A float64 array of so many axes, none empty, all entries finite."""
    array = np.asarray(value, dtype=np.float64)
    fits = array.ndim == axes and array.size > 0
    require(fits, f"{name} must have {axes} axes and no empty one, but is {shape_text(array)}")
    require(bool(np.isfinite(array).all()), f"{name} ({shape_text(array)}) holds NaN or infinite entries")
    return array


def scores_below_infinity(scores: ArrayLike, beta: float) -> Array:
    """At least one score, each finite or −∞, for a finite β."""
    s = np.asarray(scores, dtype=np.float64)
    require(s.ndim > 0 and s.size > 0, f"softargmax needs at least one score, but scores are {shape_text(s)}")
    bounded = isfinite(beta) and not (np.isnan(s).any() or np.isposinf(s).any())
    require(bounded, f"softargmax needs a finite β (got {beta}) and scores ({shape_text(s)}) below infinity")
    return s


def one_query(q: ArrayLike, keys: ArrayLike, values: ArrayLike) -> tuple[Array, Array, Array]:
    """One query, and as many keys as values in rows."""
    q, keys, values = finite_array("q", q, 1), finite_array("keys", keys, 2), finite_array("values", values, 2)
    asked = f"one column per entry of q ({len(q)}) and one row per value ({shape_text(values)})"
    require(keys.shape == (len(values), len(q)), f"keys {shape_text(keys)} need {asked}")
    return q, keys, values


def queries_keys_values(Q: ArrayLike, K: ArrayLike, V: ArrayLike) -> tuple[Array, Array, Array]:
    """Queries as long as keys, and as many keys as values, in columns."""
    Q, K, V = finite_array("Q", Q, 2), finite_array("K", K, 2), finite_array("V", V, 2)
    shapes = f"Q {shape_text(Q)}, K {shape_text(K)} and V {shape_text(V)}"
    fits = len(Q) == len(K) and K.shape[1] == V.shape[1]
    require(fits, f"{shapes} do not fit: Q and K share their rows (d), K and V their columns (m)")
    return Q, K, V


def boolean_mask(mask: ArrayLike, scores: Array) -> NDArray[np.bool_]:
    """A mask with one boolean per score."""
    allowed = np.asarray(mask)
    fits = allowed.dtype == np.bool_ and allowed.shape == scores.shape
    got = f"{allowed.dtype} and {shape_text(allowed)}"
    require(fits, f"the mask must be boolean and {shape_text(scores)} like the scores, not {got}")
    return allowed


def projection(name: str, W: ArrayLike, C: Array) -> Array:
    """A matrix that can multiply the tokens C."""
    W = finite_array(name, W, 2)
    asked = f"the tokens {shape_text(C)}: one column per feature"
    require(W.shape[1] == len(C), f"{name} {shape_text(W)} does not fit {asked}")
    return W


def require_joined_heads(heads: int, Q: Array, K: Array, V: Array, W_O: Array) -> None:
    """Q, K and V with as many rows as W_O has columns, which the heads share out evenly."""
    require_even_heads(heads, len(Q))
    rows = f"W_Q, W_K and W_V have {len(Q)}, {len(K)} and {len(V)} rows and W_O is {shape_text(W_O)}"
    fits = len(Q) == len(K) == len(V) == W_O.shape[1]
    require(fits, f"{rows}: each must have as many rows as W_O has columns")


# ---- torch tensors, tokens in rows ----


def require_tokens(x: Tensor, width: int, name: str = "x") -> None:
    """A (batch, tokens, width) tensor with at least one token and only finite entries."""
    fits = x.dim() == 3 and x.shape[2] == width and 0 not in x.shape
    require(fits, f"{name} must be (batch, tokens, {width}), none of them empty, but is {shape_text(x)}")
    require_finite(x, name)


def require_finite(x: Tensor, name: str) -> None:
    require(bool(x.isfinite().all()), f"{name} {shape_text(x)} holds NaN or infinite entries")


def require_features(x: Tensor, width: int) -> None:
    fits = x.dim() > 0 and x.shape[-1] == width
    require(fits, f"the last axis of x must hold {width} features, but x is {shape_text(x)}")


def require_dot_product(q: HasShape, k: HasShape, v: HasShape) -> None:
    shapes = f"queries {shape_text(q)}, keys {shape_text(k)} and values {shape_text(v)}"
    shared = "q and k share their last axis (features), k and v their last but one (tokens)"
    fits = q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2]
    require(fits, f"{shapes} do not fit: {shared}")
    require(k.shape[-2] > 0, f"there is nothing to attend to: keys are {shape_text(k)}")


def require_same_batch(x: Tensor, context: Tensor) -> None:
    """As many sequences in both, or one of them for all of the other."""
    fits = len(x) == len(context) or 1 in (len(x), len(context))
    require(fits, f"x {shape_text(x)} and context {shape_text(context)} have different batch sizes")


def require_positions(x: Tensor, known: int) -> None:
    require(x.shape[1] <= known, f"x {shape_text(x)} is longer than the {known} positions there are")


def require_images(images: Tensor, channels: int, side: int) -> None:
    fits = images.dim() == 4 and len(images) > 0 and tuple(images.shape[1:]) == (channels, side, side)
    require(fits, f"images must be (batch, {channels}, {side}, {side}), but are {shape_text(images)}")
    require_finite(images, "images")


def require_ids(ids: Tensor, longest: int, vocabulary: int) -> None:
    """Integers of a known character each, no more than the model has positions for."""
    fits = ids.dim() == 2 and 0 not in ids.shape and ids.shape[1] <= longest
    require(fits, f"ids must be (batch, 1 to {longest}), not empty, but are {shape_text(ids)}")
    lowest, highest = int(ids.min()), int(ids.max())
    ends = f"ids {shape_text(ids)} run from {lowest} to {highest}, the vocabulary from 0 to {vocabulary - 1}"
    require(lowest >= 0 and highest < vocabulary, ends)
