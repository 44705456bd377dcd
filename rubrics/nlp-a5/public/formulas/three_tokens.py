"""*self-attention gives*: what three tokens become under a student's K, Q and V as the norm of the u's grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from grader import Array
from grader.formulas import ONE, Declared, Expression, Symbol, Values, Vocabulary, evaluate, softmax

_LABELS = ("a", "b", "c", "d")
VOCABULARY = Vocabulary(
    declared=(
        Declared("u", ("D", ONE), labels=_LABELS),
        Declared("x", ("D", ONE), labels=("1", "2", "3")),
        Declared("β"),
    ),
    dimensions=("D",),
    asked=("K", "Q", "V"),
)
EXPECTED = ("D", "D")
_SIZE = 7  # more than four dimensions, so that K = I is more than the four u's
NORMS = (4.0, 8.0, 16.0, 32.0)
NEAR = 0.02  # of the error, relative to the norm β, at the largest of these norms

Combination = Mapping[str, Fraction]  # {"b": 1, "c": -1} is u_b − u_c


@dataclass(frozen=True)
class Outputs:
    """How far each token's output is from what is asked, relative to β, at growing norms."""

    errors: Mapping[int, tuple[float, ...]]

    def reaches(self, token: int) -> bool:
        far = self.errors[token]
        return bool(np.isfinite(far[-1]) and far[-1] <= NEAR)


@np.errstate(all="ignore")  # what is infinite is judged, not warned of
def outputs(
    matrices: Mapping[str, Expression],
    free: list[Symbol],
    tokens: Mapping[int, Combination],
    targets: Mapping[int, Combination],
    rng: np.random.Generator,
) -> Outputs:
    """Each token's output at norms from 4 to 32, where the free letters grow as the norm does."""
    basis = _basis(rng)
    errors: dict[int, list[float]] = {token: [] for token in targets}
    for beta in NORMS:
        values = _values(tokens, beta * basis, beta, dict.fromkeys(free, beta))
        K, Q, V = (evaluate(matrices[name], values) for name in ("K", "Q", "V"))
        X = np.hstack([values.arrays[f"x_{number}"] for number in tokens])  # (D, tokens)
        C = V @ X @ softmax((K @ X).T @ (Q @ X), 0)
        for token, parts in targets.items():
            wanted = _combined(parts, beta * basis)
            errors[token].append(float(np.abs(C[:, [list(tokens).index(token)]] - wanted).max() / beta))
    return Outputs({token: tuple(found) for token, found in errors.items()})


def sampled(tokens: Mapping[int, Combination], free: Sequence[Symbol], rng: np.random.Generator) -> Values:
    """Values of the question's symbols: orthogonal u's of norm β, the tokens made of them, and any free letters."""
    beta = float(rng.uniform(1.5, 3))
    return _values(tokens, beta * _basis(rng), beta, {symbol: float(rng.uniform(0.4, 2.2)) for symbol in free})


def _basis(rng: np.random.Generator) -> Array:
    return np.linalg.qr(rng.standard_normal((_SIZE, len(_LABELS))))[0]  # (D, 4)


def _values(tokens: Mapping[int, Combination], u: Array, beta: float, scalars: Mapping[Symbol, float]) -> Values:
    arrays = {f"u_{label}": u[:, [place]] for place, label in enumerate(_LABELS)}
    arrays |= {f"x_{number}": _combined(parts, u) for number, parts in tokens.items()}
    return Values({"D": _SIZE}, arrays | {"β": np.array([[beta]])}, scalars=scalars)


def _combined(parts: Combination, u: Array) -> Array:
    total = np.zeros((_SIZE, 1))
    for label, factor in parts.items():
        total = total + float(factor) * u[:, [_LABELS.index(label)]]
    return total
