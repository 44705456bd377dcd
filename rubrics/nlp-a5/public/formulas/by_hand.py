"""Self-attention by hand: K, Q and V that turn given tokens into given outputs, as the norm of the u's grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from grader import Answer, Array, Outcome, Student, check
from grader.formulas import (
    HALF,
    ONE,
    SCALAR,
    UNSIZED,
    AskedName,
    Declared,
    Expression,
    Formula,
    Misfit,
    Rational,
    Reading,
    Share,
    Symbol,
    Values,
    Verdict,
    Vocabulary,
    all_as_read,
    canonical,
    evaluate,
    formula_outcome,
    how_read,
    judged_together,
    partly,
    plain,
    read_by,
    right,
    seed_from,
    shown,
    softmax,
    undecided,
    wrong,
)

_NAMES = ("K", "Q", "V")
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


def _as_read(answer: Answer, **_: object) -> list[Reading]:
    return [how_read(answer, VOCABULARY, _question(name)) for name in _NAMES]


@read_by(_as_read)
@check
def self_attention_gives_the_targets(
    student: Student,
    rng: np.random.Generator,
    *,
    tokens: list[dict[str, Rational]],
    targets: dict[str, dict[str, Rational]],
    partial: Share = HALF,
) -> Outcome:
    """With the proposed K, Q and V the outputs tend to the ones asked for as the norm of the u's grows."""
    numbered = dict(enumerate(tokens, start=1))
    wanted = {int(number): parts for number, parts in targets.items()}
    return formula_outcome(_by_hand, student, partial, numbered, wanted, seed_from(rng))


def _by_hand(
    answer: Answer, tokens: Mapping[int, Combination], targets: Mapping[int, Combination], seed: int
) -> Verdict:
    def judge(offered: Mapping[str, Formula]) -> Verdict:
        return _reaches({name: one.expression for name, one in offered.items()}, tokens, targets, seed)

    questions, sample = [_question(name) for name in _NAMES], partial(_sampled, tokens)
    return judged_together(answer, VOCABULARY, questions, judge, sample, _misshapen)


def _misshapen(name: str, found: Formula) -> Verdict | None:
    written = f"{name} = {plain(found.expression)}"
    if found.shape == UNSIZED:
        return wrong(f"{name} is zero, so it tells no two tokens apart", written, code="formula_is_zero")
    if found.shape == SCALAR and (unknown := VOCABULARY.free(found.expression)):
        detail = f"it is not said what {plain(unknown[0])} is"
        return undecided(f"the formula for {name} could not be read", detail, code="undefined_letter")
    if found.shape != EXPECTED:
        return wrong(f"{name} should be a square matrix", f"{written} is {shown(found.shape)}", code="wrong_shape")
    return None


def _reaches(
    matrices: Mapping[str, Expression], tokens: Mapping[int, Combination], targets: Mapping[int, Combination], seed: int
) -> Verdict:
    """Whether the outputs tend to their targets with three matrices."""
    texts = [f"{name} = {plain(matrix)}" for name, matrix in matrices.items()]
    free = dict.fromkeys(symbol for one in matrices.values() for symbol in VOCABULARY.free(one))
    try:
        reached = outputs(matrices, list(free), tokens, targets, np.random.default_rng(seed))
    except Misfit as misfit:
        detail = f"{misfit.what} in {', '.join(texts)}"
        return wrong("the matrices do not fit together", detail, code="dimension_mismatch")
    errors = {f"c_{token}": list(found) for token, found in reached.errors.items()}
    same = [f"{name} = {canonical(matrix, VOCABULARY)}" for name, matrix in matrices.items()]
    evidence = {**all_as_read(matrices), "canonical": same, "errors": errors, "norms": list(NORMS)}
    missed = [token for token in targets if not reached.reaches(token)]
    if not missed:
        return right("every output tends to its target", "; ".join(texts), evidence)
    names = " and ".join(f"c_{token}" for token in missed)
    norm = f"{NORMS[-1]:g}"
    off = "; ".join(f"c_{token} is off by {reached.errors[token][-1]:.2g} β at β = {norm}" for token in missed)
    detail = f"{off} with {', '.join(texts)}"
    if len(missed) < len(targets):
        message = f"{names} does not tend to its target, the other does"
        return partly(message, detail, evidence, code="misses_targets")
    return wrong(f"{names} do not tend to their targets", detail, evidence, code="misses_targets")


def _question(name: str) -> AskedName:
    return AskedName(name, expected=EXPECTED, may_be_bare=False)


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


def _sampled(tokens: Mapping[int, Combination], free: Sequence[Symbol], rng: np.random.Generator) -> Values:
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
