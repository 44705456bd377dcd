"""The attention weights of a query with free scales, and where they go as the scales grow, for orthonormal keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader import Array
from grader.formulas import (
    ONE,
    UNSIZED,
    Declared,
    Expression,
    GrowthClaim,
    Symbol,
    Typed,
    Values,
    Verdict,
    Vocabulary,
    evaluate,
    partly,
    plain,
    shown,
    softmax,
    symbols_in,
    wrong,
)

_SCALES = tuple(10.0**power for power in range(1, 13))
_SETTLED = 0.05  # how little weights still change from one scale to the next once they have a limit
_LARGE_SPREAD, _NO_SPREAD = 1e3, 1e-9  # of scores: weights are at their limit, and all keys are alike
# How students write means: the question's μ, and what stands for it on a keyboard.
_OTHER_LETTERS = {"μ": ("M", "u", "m")}


@dataclass(frozen=True)
class Setting:
    """The keys a query meets. `known` is the family it should be written in, `drawn` one that is random here."""

    known: str = "k"
    drawn: str = ""
    labels: tuple[str, ...] = ("a", "b")
    n: int = 10

    @property
    def families(self) -> list[str]:
        """The letters keys go by; k always is one."""
        return list(dict.fromkeys(name for name in (self.known, self.drawn, "k") if name))

    def vocabulary(self, *asked: str) -> Vocabulary:
        declared = [
            Declared(name, ("d", ONE), ("n",), self.labels, aliases=_OTHER_LETTERS.get(name, ()))
            for name in self.families
        ]
        declared.append(Declared("v", ("d", ONE), ("n",), self.labels))
        means = {self.drawn: self.known} if self.drawn else {}
        return Vocabulary(tuple(declared), ("d", "n"), asked, means=means)

    def values(self, keys: Array, scalars: Mapping[Symbol, float]) -> Values:
        places = {label: place for place, label in enumerate(self.labels)}
        families = dict.fromkeys(self.families, keys)
        return Values({"d": keys.shape[1], "n": len(keys)}, families=families, labels=places, scalars=scalars)

    def sampled(self, free: Sequence[Symbol], rng: np.random.Generator) -> Values:
        """Values of the question's symbols: the known keys are orthonormal, random keys and values can be anything."""
        keys = np.linalg.qr(rng.standard_normal((self.n + 2, self.n)))[0].T
        values = self.values(keys, {symbol: float(rng.uniform(0.4, 2.2)) for symbol in free})
        others = {name: rng.standard_normal(keys.shape) for name in (*self.families, "v") if name != self.known}
        return replace(values, families={**values.families, **others})


@dataclass(frozen=True)
class Query:
    """A typed query, and what is said about its letters."""

    expression: Expression
    claims: Mapping[Symbol, GrowthClaim]
    setting: Setting

    @property
    def grown(self) -> list[Symbol]:
        """The letters whose size is not fixed."""
        return list(self.claims)

    def scores(self, keys: Array, scale: float = 1.0, ratios: Sequence[float] = ()) -> Array:
        """With every free letter of this size, or in these ratios to it; NaN if the query is not finite."""
        scalars = {}
        for (symbol, claim), ratio in zip(self.claims.items(), ratios or [1.0] * len(self.claims), strict=True):
            value = ratio / scale if claim.growth == "small" else ratio * scale
            scalars[symbol] = -value if claim.sign == "−" else value
        q = evaluate(self.expression, self.setting.values(keys, scalars))
        return np.asarray(keys @ np.where(np.isfinite(q), q, np.nan))[:, 0]


def orthonormal_keys(n: int, rng: np.random.Generator) -> Array:
    """Coordinate vectors in random order and with random signs: weights do not change under rotation, and with these
    even scores of 10⁴⁰ are exact, so that a tie stays a tie."""
    places = rng.permutation(n + 2)[:n]
    keys = np.zeros((n, n + 2))
    keys[np.arange(n), places] = rng.choice([-1.0, 1.0], n)
    return keys


def weights_of(scores: Array) -> Array:
    """Their softmax."""
    return softmax(scores[:, None], 0)[:, 0]


def limit_weights(query: Query, keys: Array, ratios: Sequence[float] = ()) -> Array | None:
    """The weights at the largest scale that floats still hold, if they have settled by then."""
    settled: list[Array] = []
    for scale in _SCALES:
        scores = query.scores(keys, scale, ratios)
        if not np.isfinite(scores).all():
            break
        settled.append(weights_of(scores))
    if len(settled) < 2 or np.abs(settled[-1] - settled[-2]).max() > _SETTLED:
        return None
    return settled[-1]


def enlarged_weights(query: Query, keys: Array, scale: float = 1.0) -> Array | None:
    """The weights of a much longer query in the same direction; None if it has none, or is said to turn round."""
    scores = query.scores(keys, scale)
    if not np.isfinite(scores).all() or any(claim.sign == "−" for claim in query.claims.values()):
        return None
    spread = float(np.ptp(scores))
    return weights_of(scores * (_LARGE_SPREAD / spread)) if spread > _NO_SPREAD else None


def made_of_random_keys(queries: Sequence[Query], formula: str, evidence: Mapping[str, Any]) -> Verdict | None:
    """What is right but for the letter: the keys themselves are not known when the query is chosen."""
    drawn, known = queries[0].setting.drawn, queries[0].setting.known
    used = {symbol.name for query in queries for symbol in symbols_in(query.expression)}
    if drawn not in used:
        return None
    verdict = partly(
        f"right, but written with the random {drawn}_i; only their means {known}_i are known",
        f"in {formula} put {known} for {drawn}",
        evidence,
        code="uses_random_keys",
    )
    return replace(verdict, but_for_letters=True)


def misuse(found: Typed, setting: Setting, name: str) -> Verdict | None:
    """What cannot be a query, whatever its weights."""
    formula = f"{name} = {plain(found.expression)}"
    used = {symbol.name for symbol in symbols_in(found.expression)}
    if "v" in used:
        return wrong(
            "the query is made of values; attention compares it with keys",
            f"{formula} uses v where {setting.known} belongs",
            code="uses_values",
        )
    if found.shape in (("d", ONE), (ONE, "d"), UNSIZED):
        return None
    detail = f"{formula} is {shown(found.shape)}"
    return wrong(f"{name} should be a vector like the keys", detail, code="wrong_shape")
