"""The layers that attention can be made into: inputs to build them for, and what they then compute.

All in columns: C is e×n, H = V softargmax_β(KᵀQ). The inputs are such that a sharp enough β exists: keys no two of
which are closer than 60°, tokens at right angles, or positions beside the features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from grader import Array

LayerName = Literal["copied_value", "mean", "identity", "permutation", "pointwise_convolution", "convolution"]
Borders = Literal["zero", "wrap", "clamp"]
# As torch and numpy call them, too.
BORDERS: Mapping[Borders, tuple[str, ...]] = {
    "zero": ("zeros", "constant", "pad", "padding"),
    "wrap": ("circular", "periodic", "cyclic"),
    "clamp": ("replicate", "edge", "nearest"),
}

_SIZES = [(6, 2), (5, 5), (9, 4), (7, 3), (12, 7)]  # features and tokens; never more tokens than features


@dataclass(frozen=True)
class Trial:
    """One input: what the student's function is given, and what attention must then compute."""

    label: str
    args: tuple[Any, ...]
    tokens: Array  # what W_Q, W_K and W_V multiply; for one query, the keys
    want: Array
    values: Array | None = None  # for one query
    weights: Array | None = None  # A, where it is settled
    mistakes: Mapping[str, Array] = field(default_factory=dict)  # outputs that tell what went wrong
    by_border: Mapping[str, Array] = field(default_factory=dict)  # what is right, where borders are left open
    padding: int = 0  # tokens at either end whose outputs do not count
    other_contents: Callable[[np.random.Generator], Trial] | None = None  # for the same weights A to carry


def _keys_apart(rng: np.random.Generator, d: int, m: int) -> Array:
    """Unit length, no two with a cosine above ½."""
    while True:
        K = rng.normal(size=(d, m))
        K /= np.linalg.norm(K, axis=0)
        if (K.T @ K - np.eye(m)).max() <= 0.5:
            return K


def _tokens(rng: np.random.Generator, e: int, n: int) -> Array:
    """Orthonormal columns."""
    return np.asarray(np.linalg.qr(rng.normal(size=(e, n)))[0])


def _copied_value(rng: np.random.Generator) -> Iterator[Trial]:
    for d, m in [(12, 4), (9, 4), (8, 5), (14, 6), (16, 7)]:
        K, V, j = _keys_apart(rng, d, m), rng.normal(size=(m + 1, m)), int(rng.integers(m))
        yield Trial(
            f"K {d}×{m}, V {m + 1}×{m}",
            (K, V, j),
            K,
            V[:, [j]],
            values=V,
            mistakes={
                "it counts keys from 1; j counts from 0": V[:, [j - 1]],
                "the scores have the wrong sign": V[:, [int(np.argmin(K.T @ K[:, j]))]],
                "all values get the same weight": V.mean(axis=1, keepdims=True),
            },
        )


def _mean(rng: np.random.Generator) -> Iterator[Trial]:
    for d, m in [(8, 2), (3, 5), (4, 9)]:
        K, V = rng.normal(size=(d, m)), rng.normal(size=(m + 1, m))
        yield Trial(f"K {d}×{m}, V {m + 1}×{m}", (K, V), K, V.mean(axis=1, keepdims=True), values=V)


def _with_other_contents(trial_on: Callable[[Array], Trial], C: Array) -> Trial:
    """The trial on C. Its other contents are C turned: they span what C spans, and are as long and at right angles.

    What is right outside that span is left open: Cᵀ and C for W_V and W_O make any content of C's span what it was.
    """
    n = C.shape[1]
    return replace(trial_on(C), other_contents=lambda rng: trial_on(C @ _tokens(rng, n, n)))


def _identity(rng: np.random.Generator) -> Iterator[Trial]:
    for e, n in _SIZES:
        yield _with_other_contents(_identity_on, _tokens(rng, e, n))


def _identity_on(C: Array) -> Trial:
    e, n = C.shape
    mean = np.repeat(C.mean(axis=1, keepdims=True), n, axis=1)
    mistakes = {"every token gets the mean of all: the scores do not tell tokens apart": mean}
    return Trial(f"C {e}×{n}", (C,), C, C, weights=np.eye(n), mistakes=mistakes)


def _permutation(rng: np.random.Generator) -> Iterator[Trial]:
    for e, n in [(6, 3), (5, 5), (9, 4), (12, 7)]:
        C = _tokens(rng, e, n)
        around = rng.permutation(n)  # one round through all tokens, so that it differs from its inverse
        order = np.empty(n, dtype=np.int64)
        order[around] = np.roll(around, 1)
        yield _with_other_contents(partial(_permutation_on, order=order), C)


def _permutation_on(C: Array, order: Array) -> Trial:
    e, n = C.shape
    mistakes = {
        "rows and columns of the permutation are swapped: it undoes the order": C[:, np.argsort(order)],
        "it leaves every token where it is": C,
    }
    return Trial(f"C {e}×{n}", (C, order), C, C[:, order], weights=np.eye(n)[:, order], mistakes=mistakes)


def _pointwise_convolution(rng: np.random.Generator) -> Iterator[Trial]:
    for e, n, out in [(6, 2, 6), (5, 5, 3), (9, 4, 10), (7, 3, 7), (12, 7, 1)]:
        C, W = _tokens(rng, e, n), rng.normal(size=(out, e))
        yield _with_other_contents(partial(_pointwise_convolution_on, W=W), C)


def _pointwise_convolution_on(C: Array, W: Array) -> Trial:
    (e, n), out = C.shape, len(W)
    mistakes = {"it leaves every token as it is: W is not used": C}
    if out == e:
        mistakes["it multiplies with the transpose of W"] = W.T @ C
    return Trial(f"C {e}×{n}, W {out}×{e}", (C, W), C, W @ C, weights=np.eye(n), mistakes=mistakes)


def _convolution(rng: np.random.Generator) -> Iterator[Trial]:
    for e, n, out in [(3, 4, 3), (2, 5, 4), (4, 9, 1)]:
        features, kernel = rng.normal(size=(e, n)), rng.normal(size=(out, e, 3))
        yield _with_other_features(features, kernel)


def _with_other_features(features: Array, kernel: Array) -> Trial:
    return replace(
        _convolution_on(features, kernel),
        other_contents=lambda rng: _convolution_on(rng.normal(size=features.shape), kernel),
    )


def _convolution_on(features: Array, kernel: Array) -> Trial:
    (e, n), out = features.shape, len(kernel)
    C = np.pad(features, ((0, 0), (1, 1)))
    P = np.eye(n + 2)
    right: dict[str, Array] = {border: convolved(features, kernel, border) for border in BORDERS}
    mistakes = {"only the token itself is seen": kernel[:, :, 1] @ features}
    for border in BORDERS:
        at = f" (borders: {border})"
        mirrored = convolved(features, kernel[:, :, ::-1], border)
        mistakes["the kernel is mirrored: its first entry belongs to the token before" + at] = mirrored
        for step, side in ((-1, "before"), (1, "after")):
            moved = convolved(features, kernel, border, step)
            mistakes[f"every head looks one token too far to the side {side}" + at] = moved
    return Trial(
        f"C {e}×{n + 2}, kernel {out}×{e}×3",
        (C, P, kernel),
        np.vstack([C, P]),
        right["zero"],
        mistakes=mistakes,
        by_border=right,
        padding=1,
    )


def convolved(features: Array, kernel: Array, border: Borders, step: int = 0) -> Array:
    """As torch's Conv1d with this weight and one token of padding: H[:, j] = Σₜ kernel[:, :, t] C[:, j + t − 1]."""
    mode: Any = {"zero": "constant", "wrap": "wrap", "clamp": "edge"}[border]
    padded = np.pad(features, ((0, 0), (2, 2)), mode=mode)
    n = features.shape[1]
    shifted = [kernel[:, :, t] @ padded[:, t + 1 + step : t + 1 + step + n] for t in range(kernel.shape[2])]
    return np.asarray(sum(shifted))


LAYERS: dict[LayerName, Callable[[np.random.Generator], Iterator[Trial]]] = {
    "copied_value": _copied_value,
    "mean": _mean,
    "identity": _identity,
    "permutation": _permutation,
    "pointwise_convolution": _pointwise_convolution,
    "convolution": _convolution,
}
