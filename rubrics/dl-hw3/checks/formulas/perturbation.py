"""*first order in*: a formula for a small change of attention's output, against the derivative of the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader import Array
from grader.formulas import (
    ONE,
    Declared,
    Expression,
    Values,
    Verdict,
    Vocabulary,
    as_read,
    evaluate,
    partly,
    right,
    softmax,
    wrong,
)

Attention = Callable[[Array, Array, Array, float], Array]  # (Q, K, V, β) → H, tokens in columns

_STEP = 1e-5  # of central differences in float64: an error near 1e-10
_SIZES = ((4, 3, 5, 2), (3, 2, 4, 3), (5, 4, 3, 4))  # d, n, m, t
_DRAWS = 2  # attentions of each size
_AGREES = 1e-5
_NOTHING = 1e-9

_HERE = ("i", "j")
SHIFTED = Vocabulary(  # k_i becomes k_i + ε
    declared=(
        Declared("k", ("d", ONE), ("m",), _HERE),
        Declared("v", ("t", ONE), ("m",), _HERE),
        Declared("q", ("d", ONE), ("n",), _HERE),
        Declared("q", ("d", ONE)),
        Declared("h", ("t", ONE), ("n",), _HERE),
        Declared("h", ("t", ONE)),
        Declared("a", runs_to=("m", "n"), labels=_HERE, aliases=("A", "α", "w", "p")),
        Declared("a", runs_to=("m",), labels=_HERE, aliases=("α", "w", "p")),
        Declared("A", ("m", "n")),
        Declared("K", ("d", "m")),
        Declared("Q", ("d", "n")),
        Declared("V", ("t", "m")),
        Declared("H", ("t", "n")),
        Declared("ε", ("d", ONE), aliases=("δ", "η", "ξ")),
        Declared("β"),
        Declared("α"),
    ),
    dimensions=("d", "n", "m", "t"),
    functions=frozenset({"O", "o"}),
    marks_matter=True,
)
SCALED = replace(  # k_i becomes αk_i; an ε here is the student's own
    SHIFTED, declared=tuple(one for one in SHIFTED.declared if one.name != "ε")
)


@dataclass(frozen=True)
class World:
    """One attention, one key i and one query j; `at(size)` is what a formula sees when the key has changed so far."""

    values: Values
    beta: float
    output: Array  # the derivative of h_j
    noise: Array

    def at(self, size: float) -> Values:
        changed = {"ε": size * self.noise, "α": np.array([[1.0 + size]])}
        return replace(self.values, arrays={**self.values.arrays, **changed})


def _world(attention: Attention, scales: bool, sizes: tuple[int, int, int, int], rng: np.random.Generator) -> World:
    """With `scales` the key k_i becomes αk_i, else k_i + ε."""
    d, n, m, t = sizes
    Q, K, V = rng.standard_normal((d, n)), rng.standard_normal((d, m)), rng.standard_normal((t, m))
    beta = float(rng.uniform(0.4, 1.3))
    noise = rng.standard_normal((d, 1))
    i, j = int(rng.integers(m)), int(rng.integers(n))

    def output(size: float) -> Array:
        changed = K.copy()
        changed[:, i : i + 1] = (1 + size) * K[:, i : i + 1] if scales else K[:, i : i + 1] + size * noise
        return np.asarray(attention(Q, changed, V, beta))[:, j : j + 1]

    derivative = (output(_STEP) - output(-_STEP)) / (2 * _STEP)
    A = softmax(beta * (K.T @ Q), 0)
    H = V @ A
    values = Values(
        sizes={"d": d, "n": n, "m": m, "t": t},
        arrays={
            "A": A, "K": K, "Q": Q, "V": V, "H": H, "β": np.array([[beta]]), "q": Q[:, j : j + 1], "h": H[:, j : j + 1],
        },
        families={"k": K.T, "v": V.T, "q": Q.T, "h": H.T, "a[2]": A, "a": A[:, j]},
        labels={"i": i, "j": j},
    )  # fmt: skip
    return World(values, beta, derivative, noise)


def worlds(attention: Attention, scales: bool, rng: np.random.Generator) -> list[World]:
    """Attentions of three sizes."""
    return [_world(attention, scales, sizes, rng) for sizes in _SIZES for _ in range(_DRAWS)]


@np.errstate(all="ignore")  # what is infinite is judged, not warned of
def judge(formula: Expression, attentions: list[World], read_as: str) -> Verdict:
    """A formula for the change of h_j, against the derivative in every world."""
    starts, slopes = zip(*(_slope(formula, one) for one in attentions), strict=True)
    begins_at_zero = all(np.abs(start).max() < _NOTHING for start in starts)
    evidence: dict[str, Any] = {**as_read(formula)}

    def agrees(factor: Callable[[World], float]) -> bool:
        return begins_at_zero and all(
            np.abs(factor(one) * got - one.output).max() <= _AGREES * (1 + np.abs(one.output).max())
            for one, got in zip(attentions, slopes, strict=True)
        )

    if agrees(lambda one: 1.0):
        return right("it agrees with the derivative of attention", read_as, evidence)
    if agrees(lambda one: -1.0):
        return wrong("the sign is the wrong way round", read_as, evidence, code="wrong_sign")
    if agrees(lambda one: one.beta):
        message = "β is left out: the scores are multiplied by it, and so is their change"
        return partly(message, read_as, evidence, code="beta_left_out")
    if any(np.abs(start).max() > _NOTHING for start in starts):
        message = "without any change the formula does not give 0"
        return wrong(message, read_as, evidence, code="not_zero_unchanged")
    error = max(float(np.abs(got - one.output).max()) for one, got in zip(attentions, slopes, strict=True))
    return wrong(
        "it does not agree with the derivative of attention",
        f"{read_as} is off by {error:.2g} on a random attention",
        {**evidence, "off_by": error},
        code="formula_wrong",
    )


def _slope(formula: Expression, here: World) -> tuple[Array, Array]:
    """What the formula says without any change (it should be 0), and how fast it grows with the change."""
    start, ahead, behind = (evaluate(formula, here.at(size)) for size in (0.0, _STEP, -_STEP))
    return start, (ahead - behind) / (2 * _STEP)
