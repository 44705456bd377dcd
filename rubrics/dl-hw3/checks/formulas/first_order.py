"""How the output changes when one key does a little, against the derivative of the reference attention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader import Answer, Array, Outcome, Student, check
from grader.formulas import (
    HALF,
    ONE,
    UNSIZED,
    Add,
    Apply,
    AskedName,
    Declared,
    Expression,
    Formula,
    Proposed,
    Reading,
    Share,
    Statements,
    Symbol,
    Transpose,
    Values,
    Verdict,
    Vocabulary,
    as_read,
    canonical,
    evaluate,
    formula_outcome,
    found_for,
    how_read,
    judged,
    negative,
    partly,
    plain,
    read_by,
    right,
    seed_from,
    shown,
    softmax,
    wrong,
)
from reference.attention import attention

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


# How the change of the output is written, and the changed output itself.
_CHANGES = (
    *("δ h_j", "d h_j", "Δ h", "δ h", "d h", r"\hat{h}_j - h_j", r"\hat{h} - h"),
    *(r"\tilde{h}_j - h_j", r"\tilde{h} - h", "h'_j - h_j", "h_j' - h_j", "h' - h"),
)
_OUTPUT = Symbol("h", ("j",))
_EXPECTED = ("t", ONE)
_QUESTION = AskedName("Δ h_j", _CHANGES, _EXPECTED)
_OUTPUT_QUESTION = AskedName(
    r"\hat{h}_j", (r"\hat{h}", r"\tilde{h}_j", r"\tilde{h}", "h'_j", "h_j'", "h'"), _EXPECTED, may_be_bare=False
)


def _as_read(answer: Answer, *, change: str, **_: object) -> list[Reading]:
    vocabulary = SCALED if change == "scaled" else SHIFTED
    return [how_read(answer, vocabulary, _QUESTION, _found)]


@read_by(_as_read)
@check
def agrees_to_first_order(student: Student, rng: np.random.Generator, *, change: str, partial: Share = HALF) -> Outcome:
    """The formula for a small change of the output agrees with the derivative of attention itself."""
    return formula_outcome(_first_order, student, partial, change == "scaled", seed_from(rng))


def _first_order(answer: Answer, scales: bool, seed: int) -> Verdict:
    attentions = worlds(scales, np.random.default_rng(seed))

    def judge(formula: Formula) -> Verdict:
        read_as = plain(formula.expression)
        if formula.shape == UNSIZED:
            detail = f"{read_as} says that nothing changes"
            return wrong("the output does change to first order", detail, code="formula_is_zero")
        if formula.shape != _EXPECTED:
            detail = f"{read_as} is {shown(formula.shape)}"
            return wrong("the change of h_j is a vector like h_j", detail, code="wrong_shape")
        verdict = compared(formula.expression, attentions, read_as)
        same = {"canonical": canonical(formula.expression, formula.vocabulary)}
        return replace(verdict, evidence={**verdict.evidence, **same})

    return judged(answer, SCALED if scales else SHIFTED, _QUESTION, judge, _found)


def _found(question: AskedName, statements: Statements) -> Proposed | Verdict:
    """The last formula for the change, or for the changed output written as a change."""
    found = found_for(question, statements)
    if isinstance(found, Proposed):
        return found.mapped(_without_remainder)
    output = found_for(_OUTPUT_QUESTION, statements)
    return output.mapped(_change) if isinstance(output, Proposed) and output.members else found


def _change(output: Expression) -> Expression:
    """What the changed output has more than h_j. A prime on it changes it; it transposes nothing."""
    column = output.of if isinstance(output, Transpose) else output
    return Add((_without_remainder(column), negative(_OUTPUT)))


def _without_remainder(formula: Expression) -> Expression:
    """To first order: `… + O(‖ε‖²)` is what stands before it."""
    if not isinstance(formula, Add):
        return formula
    kept = tuple(term for term in formula.terms if not (isinstance(term, Apply) and term.function in ("O", "o")))
    return kept[0] if len(kept) == 1 else replace(formula, terms=kept) if kept else formula


# ---- against the derivative ----


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


def _world(scales: bool, sizes: tuple[int, int, int, int], rng: np.random.Generator) -> World:
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


def worlds(scales: bool, rng: np.random.Generator) -> list[World]:
    """Attentions of three sizes."""
    return [_world(scales, sizes, rng) for sizes in _SIZES for _ in range(_DRAWS)]


@np.errstate(all="ignore")  # what is infinite is judged, not warned of
def compared(formula: Expression, attentions: list[World], read_as: str) -> Verdict:
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
