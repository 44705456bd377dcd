"""*weights tend to*: do a query's weights reach their targets as its free scale grows?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from grader import Array
from grader.formulas import (
    ONE,
    UNSIZED,
    Transpose,
    Typed,
    Verdict,
    as_read,
    canonical_up_to_scale,
    partly,
    plain,
    right,
    wrong,
)

from .closed_weights import by_scale, proved
from .weight_limits import (
    Query,
    Setting,
    enlarged_weights,
    limit_weights,
    made_of_random_keys,
    misuse,
    orthonormal_keys,
    weights_of,
)

__all__ = ["Query", "Setting", "judge"]

Targets = Mapping[str, Fraction]

TOLERANCE = 0.02  # how far a fixed number may leave the weights from their targets at the stated n
_LIMIT_TOLERANCE = 1e-3
_FINITE_SCALES = (1.0, 7.0, 300.0)  # at which the direction of a query that does not grow is looked at
_RATIOS = 4  # draws of how the free letters compare, each between a half and two


@np.errstate(all="ignore")  # what is infinite is judged, not warned of
def judge(found: Typed, query: Query, targets: Targets, name: str, rng: np.random.Generator) -> Verdict:
    """Passed if the weights reach their targets however the free letters grow, or at the stated n for fixed numbers."""
    if refused := misuse(found, query.setting, name):
        return refused
    setting, formula = query.setting, f"{name} = {plain(found.expression)}"
    if found.shape == UNSIZED:
        return wrong(f"{name} is zero, so every key gets the same weight", formula, code="formula_is_zero")
    if found.shape == (ONE, "d"):
        query = replace(query, expression=Transpose(query.expression))
    n = setting.n
    target = _wanted(targets, setting, n)
    keys = orthonormal_keys(n, rng)
    same = canonical_up_to_scale(query.expression, setting.vocabulary(name), query.claims)
    evidence: dict[str, Any] = {**as_read(found.expression, name), "canonical": f"{name} = {same}", "n": n}
    evidence |= {**by_scale(query, keys), **proved(query, targets)}
    if not query.grown and not np.isfinite(query.scores(keys)).all():
        return wrong(f"{name} is not a finite vector", formula, evidence, code="not_finite")
    works = _works(query, keys, target, rng)
    if works == "always":
        if unknown := made_of_random_keys([query], formula, evidence):
            return unknown
        return right("the weights tend to what is asked" if query.grown else f"right at n = {n}", formula, evidence)
    if works == "together":
        letters = " and ".join(plain(symbol) for symbol in query.grown)
        return partly(
            "it works only if its scales are equal, and nothing says that they are",
            f"in {formula} the weights depend on the difference of {letters}; use one scale for both",
            evidence,
            code="scales_differ",
        )
    enlarged = [enlarged_weights(query, keys, scale) for scale in (_FINITE_SCALES if query.grown else (1.0,))]
    if all(one is not None and np.abs(one - target).max() <= _LIMIT_TOLERANCE for one in enlarged):
        return _no_scale(query, formula, targets, keys, evidence)
    message, detail, code = _misdirected(query, keys, formula)
    return wrong(message, detail, evidence, code=code)


def _works(query: Query, keys: Array, target: Array, rng: np.random.Generator) -> str:
    """always, together (only when all scales are equal) or never."""
    if not query.grown:
        return "always" if np.abs(weights_of(query.scores(keys)) - target).max() <= TOLERANCE else "never"

    def reaches(ratios: Sequence[float]) -> bool:
        reached = limit_weights(query, keys, ratios)
        return reached is not None and bool(np.abs(reached - target).max() <= _LIMIT_TOLERANCE)

    drawn = [list(rng.uniform(0.5, 2.0, len(query.grown))) for _ in range(_RATIOS)]
    if all(reaches(ratios) for ratios in drawn):
        return "always"
    return "together" if len(query.grown) > 1 and reaches([]) else "never"


def _no_scale(query: Query, formula: str, targets: Targets, keys: Array, evidence: dict[str, Any]) -> Verdict:
    """The weights would be right if only the query were longer."""
    first = query.setting.labels.index(next(iter(targets)))
    n = len(keys)
    share = next(iter(targets.values()))
    if query.grown:
        reached = limit_weights(query, keys)
        near = "" if reached is None else f" tends to {reached[first]:.2f} for n = {n}, not {share}"
        return partly(
            "the direction is right, but the query does not become long, so the weights stay even",
            f"with {formula} and {plain(query.grown[0])} as stated each weight{near}; multiply by a large constant",
            evidence,
            code="scale_too_small",
        )
    weight = float(weights_of(query.scores(keys))[first])
    closed = evidence.get("weights", {}).get(next(iter(targets)), "")
    form = f" {closed}:" if closed else ""
    return partly(
        "the direction is right, but the scale is too small for the weights to come near their targets",
        f"with {formula} the weights are{form} {weight:.2f} each for n = {n}, not {share}; "
        "multiply by a large constant",
        evidence,
        code="scale_too_small",
    )


def _misdirected(query: Query, keys: Array, formula: str) -> tuple[str, str, str]:
    """Where the weight goes instead: a message, a detail and a code."""
    reached = limit_weights(query, keys) if query.grown else weights_of(query.scores(keys))
    if reached is None or not np.isfinite(reached).all():
        return "the weights do not settle as the scale grows", formula, "weights_unsettled"
    labels = query.setting.labels
    n = len(keys)
    shares = ", ".join(f"{label}: {reached[place]:.2f}" for place, label in enumerate(labels))
    what = f"with {formula} the weights become {shares}, every other key: {reached[-1]:.2f} (n = {n})"
    if np.ptp(reached) < 1e-6:
        return "every key gets the same weight, so c is the mean of all values", what, "uniform_weights"
    if reached[len(labels) :].sum() > 0.5:
        return "the weight goes to the other keys instead", what, "other_keys_weighted"
    one = [label for place, label in enumerate(labels) if reached[place] > 0.95]
    if one:
        return f"nearly all weight goes to one key, {one[0]}", what, "one_key_weighted"
    return "the weights are not the ones asked for", what, "misses_targets"


def _wanted(targets: Targets, setting: Setting, n: int) -> Array:
    found = np.zeros(n)
    for label, share in targets.items():
        found[setting.labels.index(label)] = float(share)
    return found
