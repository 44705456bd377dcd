"""What a student's construction returned, read as heads of attention, and run through the reference's attention."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isinf, isnan
from typing import Any

import numpy as np

from grader import Array, WrongKind, numbers, shape
from reference import attention as truth

from .claimed_layers import BORDERS, Trial

_MOST_HEADS = 64
_AS_GOOD_AS_INFINITE = 1e6  # for β = inf; the scores that matter are of the order of one
_MATRICES = ("W_Q", "W_K", "W_V", "W_O")
_SPELLINGS = {"β": "beta", "query": "q"}


@dataclass(frozen=True)
class Head:
    """Q, K and V of one head, and what joins its output to the others'."""

    Q: Array
    K: Array
    V: Array
    W_O: Array | None
    beta: float
    projections: tuple[Array, Array, Array] | None = None  # W_Q, W_K and W_V, where all three come from the tokens

    def output(self, scale: float) -> Array:
        H = truth.attention(self.Q, self.K, self.V, self.beta * scale)
        return H if self.W_O is None else self.W_O @ H

    def weights(self, scale: float) -> Array:
        return truth.softargmax(self.K.T @ self.Q, self.beta * scale)

    def carrying(self, tokens: Array) -> Head:
        """With the same weights A, and the values of these tokens."""
        assert self.projections is not None
        return replace(self, V=self.projections[2] @ tokens)

    def looking_at(self, tokens: Array) -> Head:
        """With the weights that these tokens give."""
        assert self.projections is not None
        Q, K, V = (W @ tokens for W in self.projections)
        return replace(self, Q=Q, K=K, V=V)


@dataclass(frozen=True)
class Construction:
    heads: tuple[Head, ...]
    border: str  # as stated, or empty
    padding: int

    def output(self, scale: float = 1.0) -> Array:
        """With every β multiplied by `scale`."""
        H = np.asarray(sum(head.output(scale) for head in self.heads))
        return H[:, self.padding : H.shape[1] - self.padding]

    def carrying(self, tokens: Array) -> Construction:
        return replace(self, heads=tuple(head.carrying(tokens) for head in self.heads))

    def looking_at(self, tokens: Array) -> Construction:
        return replace(self, heads=tuple(head.looking_at(tokens) for head in self.heads))


def one_query(returned: Any, what: str, trial: Trial) -> Construction:
    """`q` or `(q, β)`."""
    arrays, beta, _ = _sorted_out(_by_key(returned, ("q", "beta")), what)
    assert trial.values is not None
    if len(arrays) != 1:
        raise WrongKind(f"{what} should return q, or q and β", f"it returned {len(arrays)} arrays", code="wrong_parts")
    q = numbers(arrays[0], what)
    d = len(trial.tokens)
    if q.size != d:
        raise WrongKind(
            f"{what}: q should have one entry for each of the {d} rows of K ({trial.label})",
            f"it is {shape(q.shape)}",
            code="wrong_shape",
        )
    return Construction((_head(q.reshape(d, 1), trial.tokens, trial.values, None, beta, what),), "", 0)


def self_attention(returned: Any, what: str, trial: Trial) -> Construction:
    """`(W_Q, W_K, W_V)`, with `W_O` and β if they are needed."""
    return Construction((_projected(returned, what, trial, 1.0),), "", trial.padding)


def several_heads(returned: Any, what: str, trial: Trial) -> Construction:
    """Heads, whose outputs are added, with a border and one β for all if they are stated."""
    parts = _by_key(returned, ("heads", "border", "beta"))
    arrays, beta, border = _sorted_out(parts, what)
    if len(arrays) == 1 and isinstance(arrays[0], Sequence) and all(_is_head(one) for one in arrays[0]):
        arrays = list(arrays[0])
    if not arrays or not all(_is_head(one) for one in arrays):
        message = f"{what} should return a list of heads, each (W_Q, W_K, W_V), and the border"
        raise WrongKind(message, code="wrong_parts")
    if len(arrays) > _MOST_HEADS:
        raise WrongKind(f"{what} returned more than {_MOST_HEADS} heads", code="too_many_heads")
    border = _known(border)
    if border and border not in BORDERS:
        raise WrongKind(f"{what}: the border is one of {', '.join(BORDERS)}", code="unknown_border")
    heads = tuple(_projected(one, f"{what}, head {n}", trial, beta) for n, one in enumerate(arrays, start=1))
    if len({len(head.V if head.W_O is None else head.W_O) for head in heads}) > 1:
        message = f"{what}: the outputs of the heads have different sizes and cannot be added"
        raise WrongKind(message, code="wrong_shape")
    return Construction(heads, border, trial.padding)


def _known(border: str) -> str:
    """What 'zeros', 'zero padding' or 'circular' means; the word as it is if that is unknown."""
    words = re.split(r"[\s_-]+", border)
    telling = [word for word in words if word not in ("pad", "padding")] or words
    found = {known for known, others in BORDERS.items() for word in telling if word in (known, *others)}
    return found.pop() if len(found) == 1 else border


def _is_head(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 3
    return isinstance(value, dict) or (isinstance(value, Sequence) and not isinstance(value, str) and len(value) >= 3)


def _by_key(returned: Any, keys: Sequence[str]) -> list[Any]:
    """A dictionary's values in this order, however its keys are spelt; anything else as it comes."""
    if isinstance(returned, dict):
        by_name = {_spelt(name): value for name, value in returned.items()}
        return [by_name[_spelt(key)] for key in keys if by_name.get(_spelt(key)) is not None]
    return list(returned) if isinstance(returned, tuple) or _is_a_list_of_parts(returned) else [returned]


def _spelt(key: str) -> str:
    """W_Q, WQ and w_q are one name."""
    plain = key.lower().replace("_", "")
    return _SPELLINGS.get(plain, plain)


def _is_a_list_of_parts(returned: Any) -> bool:
    """[q, β] and [heads, border] stand for tuples; a list of numbers, or of heads, is one part."""
    return isinstance(returned, list) and (
        any(isinstance(part, str) for part in returned)
        or (any(_is_number(part) for part in returned) and not all(_is_number(part) for part in returned))
    )


def _is_number(part: Any) -> bool:
    """Also an array of one number, unless it is a matrix: that may be W_O."""
    return isinstance(part, int | float) or (isinstance(part, np.ndarray) and part.size == 1 and part.ndim < 2)


def _sorted_out(parts: Sequence[Any], what: str) -> tuple[list[Any], float, str]:
    """Arrays and the like in their order, the one number (β, else 1), the one word (the border, else none)."""
    arrays: list[Any] = []
    betas: list[float] = []
    words: list[str] = []
    for part in parts:
        if isinstance(part, str):
            words.append(part.strip().lower())
        elif _is_number(part):
            betas.append(float(np.asarray(part).item()))
        elif part is not None:
            arrays.append(part)
    if len(betas) > 1 or len(words) > 1:
        message = f"{what} returned several numbers or words beside its arrays; only β, and a border, can be told"
        raise WrongKind(message, code="wrong_parts")
    return arrays, _beta(betas[0] if betas else 1.0, what), words[0] if words else ""


def _beta(beta: float, what: str) -> float:
    if isnan(beta):
        raise WrongKind(f"{what}: β is not a number (NaN)", code="not_finite")
    return float(np.copysign(_AS_GOOD_AS_INFINITE, beta)) if isinf(beta) else beta


def _projected(returned: Any, what: str, trial: Trial, beta: float) -> Head:
    given = list(returned) if isinstance(returned, np.ndarray | list) else _by_key(returned, (*_MATRICES, "beta"))
    arrays, own_beta, _ = _sorted_out(given, what)
    if len(arrays) == 1 and isinstance(arrays[0], Sequence):  # ((W_Q, W_K, W_V), β)
        arrays = list(arrays[0])
    if not 3 <= len(arrays) <= 4:
        message, detail = f"{what} should return W_Q, W_K and W_V", f"it returned {len(arrays)} matrices"
        raise WrongKind(message, detail, code="wrong_parts")
    W_Q, W_K, W_V, *rest = (numbers(array, what) for array in arrays)
    features = len(trial.tokens)
    for name, W in zip(_MATRICES, (W_Q, W_K, W_V), strict=False):
        if W.ndim != 2 or W.shape[1] != features:
            hint = "; transpose it: it multiplies tokens in columns" if W.ndim == 2 and len(W) == features else ""
            raise WrongKind(
                f"{what}: {name} should have {features} columns, one for each row of the tokens ({trial.label}){hint}",
                f"it is {shape(W.shape)}",
                code="wrong_shape",
            )
    if len(W_Q) != len(W_K):
        message = f"{what}: W_Q and W_K should have as many rows as each other ({trial.label})"
        raise WrongKind(message, code="wrong_shape")
    if rest and (rest[0].ndim != 2 or rest[0].shape[1] != len(W_V)):
        message = f"{what}: W_O should have as many columns as W_V has rows ({trial.label})"
        raise WrongKind(message, code="wrong_shape")
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told below
        Q, K, V = (W @ trial.tokens for W in (W_Q, W_K, W_V))
    return replace(_head(Q, K, V, rest[0] if rest else None, beta * own_beta, what), projections=(W_Q, W_K, W_V))


def _head(Q: Array, K: Array, V: Array, W_O: Array | None, beta: float, what: str) -> Head:
    with np.errstate(over="ignore", invalid="ignore"):
        # A thousandfold β is tried as well.
        scores = 1e3 * beta * (K.T @ Q)
    if not (np.isfinite(scores).all() and np.isfinite(V).all() and (W_O is None or np.isfinite(W_O).all())):
        message = f"{what} gives NaN, infinity, or scores too large to compute with; a β of 1000 is large enough"
        raise WrongKind(message, code="not_finite")
    return Head(Q, K, V, W_O, beta)
