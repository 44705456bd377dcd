"""*two heads*: each query copies one value, and together they average two whatever the length of one key."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from grader import Array
from grader.formulas import UNSIZED, Typed, Verdict, all_as_read, canonical_up_to_scale, partly, plain, right, wrong

from .weight_limits import (
    Query,
    enlarged_weights,
    limit_weights,
    made_of_random_keys,
    misuse,
    orthonormal_keys,
    weights_of,
)

_DRAWS = 400  # of the first key's length
_SHOWN = 200  # of them, as dots of a figure
_RATIOS = 3  # draws of how the free letters compare, each between a half and two
_TOLERANCE = 1e-3
_ALL = 0.98  # the weight of a key that is copied; a fixed scale may leave a little to the others
_EVEN = 0.01  # how far from a half the mean of two heads' weights may be
_SHORTEST = 0.05  # a key of about no length, or a negative one, says nothing about heads
_SCALE = 30.0  # at which the spread of c is reported


@np.errstate(all="ignore")  # what is infinite is judged, not warned of
def judge(heads: dict[str, tuple[Typed, Query]], spread: Fraction, rng: np.random.Generator) -> Verdict:
    """`spread` is the variance of the first key's length in the second half of the question."""
    names = list(heads)
    formulas = {name: f"{name} = {plain(typed.expression)}" for name, (typed, _) in heads.items()}
    both = ", ".join(formulas.values())
    for name, (typed, query) in heads.items():
        if refused := misuse(typed, query.setting, name):
            return refused
        if typed.shape == UNSIZED:
            return wrong(f"{name} is zero, so every key gets the same weight", formulas[name], code="formula_is_zero")
    queries = [query for _, query in heads.values()]
    setting = queries[0].setting
    keys = orthonormal_keys(setting.n, rng)
    reached = [_weights(query, keys, rng) for query in queries]
    evidence: dict[str, Any] = {
        **all_as_read({name: typed.expression for name, (typed, _) in heads.items()}),
        # Either head may copy either value.
        "canonical": sorted(
            canonical_up_to_scale(query.expression, setting.vocabulary(), query.claims) for query in queries
        ),
        "n": setting.n,
        **_samples_of_c(queries, keys, spread, rng),
        "weights": [None if one is None else [round(float(share), 4) for share in one[:2]] for one in reached],
    }
    copies = [_copied(one) for one in reached]
    if sorted(str(one) for one in copies) == ["0", "1"]:
        if unknown := made_of_random_keys(queries, both, evidence):
            return unknown
        return right("one head copies v_a, the other v_b", both, evidence)
    settled = [one for one in reached if one is not None]
    if len(settled) == len(reached):
        mean = (settled[0] + settled[1]) / 2
        if np.abs(mean[:2] - 0.5).max() < _EVEN:
            return partly(
                "c is right, but each head averages both values; the two heads were to differ, one value each",
                f"with {both} both heads attend to a and b alike, so a change in k_a's length moves both",
                evidence,
                code="heads_alike",
            )
    enlarged = [_copied(enlarged_weights(query, keys)) for query in queries]
    if sorted(str(one) for one in enlarged) == ["0", "1"]:
        weights = [float(weights_of(query.scores(keys)).max()) for query in queries]
        return partly(
            "the directions are right, but without a large scale the heads look at everything",
            f"with {both} the largest weight is {min(weights):.2f} for n = {setting.n}, not 1; "
            "multiply by a large constant",
            evidence,
            code="scale_too_small",
        )
    found = ["other keys" if one is None else "v_a" if one == 0 else "v_b" if one == 1 else "others" for one in copies]
    return wrong(
        f"{names[0]} and {names[1]} do not give v_a and v_b",
        f"with {both} the heads attend to {found[0]} and {found[1]}",
        evidence,
        code="misses_targets",
    )


def _weights(query: Query, keys: Array, rng: np.random.Generator) -> Array | None:
    """Where the weights go however the letters grow; None if that depends on them."""
    if not query.grown:
        scores = query.scores(keys)
        return weights_of(scores) if not np.isnan(scores).any() else None
    ends = [limit_weights(query, keys, list(rng.uniform(0.5, 2.0, len(query.grown)))) for _ in range(_RATIOS)]
    if any(end is None or np.abs(end - ends[0]).max() > _TOLERANCE for end in ends):
        return None
    return ends[0]


def _copied(weights: Array | None) -> int | None:
    """Which key has all the weight."""
    if weights is None or not np.isfinite(weights).all() or weights.max() < _ALL:
        return None
    return int(weights.argmax())


def _samples_of_c(queries: list[Query], keys: Array, variance: Fraction, rng: np.random.Generator) -> dict[str, Any]:
    """v_a's share in c when k_a's length is random, given that it is positive: for one averaging head, and these."""
    lengths = 1 + np.sqrt(float(variance)) * rng.standard_normal(_DRAWS)
    kept = lengths[lengths > _SHORTEST]
    heads = [query.scores(keys, _SCALE) for query in queries]  # the queries are chosen once; the key is drawn
    if not all(np.isfinite(scores).all() for scores in heads):
        return {}
    samples = {"one head": _shares([_SCALE * keys @ (keys[0] + keys[1])], kept), "two heads": _shares(heads, kept)}
    figure = {"kind": "samples", "title": "c when the length of k_a varies", "x": "share of v_a in c"}
    shown = {name: [round(float(share), 3) for share in shares[:_SHOWN]] for name, shares in samples.items()}
    return {"spread_of_c": round(float(np.std(samples["two heads"])), 6), "figure": {**figure, "samples": shown}}


def _shares(heads: list[Array], lengths: Array) -> Array:
    shares = np.zeros(len(lengths))
    for scores in heads:
        for place, length in enumerate(lengths):
            drawn = scores.copy()
            drawn[0] *= length
            shares[place] += float(weights_of(drawn)[0]) / len(heads)
    return shares
