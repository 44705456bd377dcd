"""*weights tend to*: where a query's softmax weights go as its free scale grows, for orthonormal keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from grader.formulas.evaluation import Array, Values, evaluate, softmax
from grader.formulas.expressions import Expression, Symbol, symbols_in
from grader.formulas.shapes import Misfit, Typed, shown
from grader.formulas.sizes import Size
from grader.formulas.symbolic import as_sympy, attempted, sympy_symbol
from grader.formulas.verdicts import Verdict, partly, right, wrong
from grader.formulas.vocabulary import Declared, Vocabulary
from grader.formulas.writer import plain

TOLERANCE = 0.02  # how far a fixed number may leave the weights from their targets at the stated n
_LIMIT_TOLERANCE = 1e-3
_SCALES = tuple(10.0**power for power in range(1, 13))
_PROOF_KEYS = 5  # explicit keys in a proof: the targets and three others, which are alike
Targets = Mapping[str, Fraction]


@dataclass(frozen=True)
class Setting:
    """The keys a query meets. `known` is the family it should be written in, `drawn` one that is random here."""

    known: str = "k"
    drawn: str = ""
    labels: tuple[str, ...] = ("a", "b")
    n: int = 10

    def vocabulary(self, *asked: str) -> Vocabulary:
        letters = {"μ": ("M", "u", "m")}
        families = [self.known, *([self.drawn] if self.drawn else [])]
        if "k" not in families:
            families.append("k")
        declared = [Declared(name, ("d", "1"), ("n",), self.labels, aliases=letters.get(name, ())) for name in families]
        declared.append(Declared("v", ("d", "1"), ("n",), self.labels))
        means = {self.drawn: self.known} if self.drawn else {}
        return Vocabulary(tuple(declared), ("d", "n"), asked, means=means)

    def values(self, keys: Array, scalars: Mapping[Symbol, float]) -> Values:
        places = {label: place for place, label in enumerate(self.labels)}
        families = dict.fromkeys({self.known, self.drawn or self.known, "k"}, keys)
        return Values({"d": keys.shape[1], "n": len(keys)}, families=families, labels=places, scalars=scalars)


@dataclass(frozen=True)
class Query:
    """A typed query, and what is said about its letters."""

    expression: Expression
    sizes: Mapping[Symbol, Size]
    setting: Setting

    @property
    def grown(self) -> list[Symbol]:
        """The letters whose size is not fixed."""
        return list(self.sizes)

    def scores(self, keys: Array, scale: float, ratios: Sequence[float]) -> Array:
        scalars = {}
        for (symbol, size), ratio in zip(self.sizes.items(), ratios, strict=True):
            value = ratio / scale if size.growth == "small" else ratio * scale
            scalars[symbol] = -value if size.sign == "−" else value
        q = evaluate(self.expression, self.setting.values(keys, scalars))
        with np.errstate(all="ignore"):  # 0·∞ off the axes
            return np.asarray(np.nan_to_num(keys, nan=0.0) @ np.where(np.isfinite(q), q, np.nan))[:, 0]


def orthonormal_keys(n: int, rng: np.random.Generator) -> Array:
    """Coordinate vectors in random order and with random signs: weights do not change under rotation, and with these
    even scores of 10⁴⁰ are exact, so that a tie stays a tie."""
    places = rng.permutation(n + 2)[:n]
    keys = np.zeros((n, n + 2))
    keys[np.arange(n), places] = rng.choice([-1.0, 1.0], n)
    return keys


def weights_of(scores: Array) -> Array:
    if np.isposinf(scores).any():  # ∞ as a scale: all weight on the keys it reaches
        scores = np.where(np.isposinf(scores), 0.0, -np.inf)
    return softmax(np.asarray(scores)[:, None], 0)[:, 0]


def limit_weights(query: Query, keys: Array, ratios: Sequence[float]) -> Array | None:
    """The weights at the largest scale that floats still hold, if they have settled by then."""
    settled: list[Array] = []
    for scale in _SCALES:
        scores = query.scores(keys, scale, ratios)
        if not np.isfinite(scores).all():
            break
        settled.append(weights_of(scores))
    if len(settled) < 2 or np.abs(settled[-1] - settled[-2]).max() > 0.05:
        return None
    return settled[-1]


def wanted(targets: Targets, setting: Setting, n: int) -> Array:
    found = np.zeros(n)
    for label, share in targets.items():
        found[setting.labels.index(label)] = float(share)
    return found


def query_from(found: Typed, sizes: Mapping[Symbol, Size], setting: Setting) -> Query:
    return Query(found.expression, sizes, setting)


def misuse(found: Typed, setting: Setting, name: str) -> Verdict | None:
    """What cannot be a query, whatever its weights."""
    formula = f"{name} = {plain(found.expression)}"
    used = {symbol.name for symbol in symbols_in(found.expression)}
    if "v" in used:
        return wrong(
            "the query is made of values; attention compares it with keys",
            f"{formula} uses v where {setting.known} belongs",
        )
    if found.shape == ("d", "1") or found.shape == ("?", "?"):
        return None
    if found.shape == ("1", "d"):
        return None
    return wrong(f"{name} should be a vector like the keys", f"{formula} is {shown(found.shape)}")


def judge(found: Typed, query: Query, targets: Targets, name: str, rng: np.random.Generator) -> Verdict:
    """Passed if the weights reach their targets however the free letters grow, or at the stated n for fixed numbers."""
    if refused := misuse(found, query.setting, name):
        return refused
    setting, formula = query.setting, f"{name} = {plain(found.expression)}"
    if found.shape == ("?", "?"):
        return wrong(f"{name} is zero, so every key gets the same weight", formula)
    if found.shape == ("1", "d"):
        from grader.formulas.expressions import Transpose

        query = replace(query, expression=Transpose(query.expression))
    n = setting.n
    target = wanted(targets, setting, n)
    keys = orthonormal_keys(n, rng)
    ones = [1.0] * len(query.grown)
    evidence: dict[str, Any] = {"read_as": formula, "n": n, **_finite(query, keys, ones), **_proved(query, targets)}
    scores = query.scores(keys, 1.0, ones)
    if not query.grown and not np.isfinite(scores).all() and not np.isposinf(scores).any():
        return wrong(f"{name} is not a finite vector", formula, evidence)
    used = {symbol.name for symbol in symbols_in(query.expression)}
    works = _works(query, keys, target, rng, ones)
    if works == "always":
        if setting.drawn in used and setting.known not in used:
            return partly(
                f"right, but written with the random {setting.drawn}_i; only their means {setting.known}_i are known",
                f"in {formula} put {setting.known} for {setting.drawn}",
                evidence,
            )
        return right("the weights tend to what is asked" if query.grown else f"right at n = {n}", formula, evidence)
    if works == "together":
        letters = " and ".join(plain(symbol) for symbol in query.grown)
        return partly(
            "it works only if its scales are equal, and nothing says that they are",
            f"in {formula} the weights depend on the difference of {letters}; use one scale for both",
            evidence,
        )
    reached = limit_weights(query, keys, ones) if query.grown else None
    shrinks = reached is not None and float(np.ptp(reached)) < _LIMIT_TOLERANCE
    if (not query.grown or shrinks) and _only_scale_is_missing(query, keys, target, ones):
        return _no_scale(query, formula, targets, keys, evidence, ones)
    return wrong(*_misdirected(query, keys, target, formula, ones), evidence)


def _works(query: Query, keys: Array, target: Array, rng: np.random.Generator, ones: list[float]) -> str:
    """always, together (only when all scales are equal) or never."""
    if not query.grown:
        return "always" if np.abs(weights_of(query.scores(keys, 1.0, ones)) - target).max() <= TOLERANCE else "never"

    def reaches(ratios: Sequence[float]) -> bool:
        reached = limit_weights(query, keys, ratios)
        return reached is not None and bool(np.abs(reached - target).max() <= _LIMIT_TOLERANCE)

    drawn = [list(rng.uniform(0.5, 2.0, len(ones))) for _ in range(4)]
    if all(reaches(ratios) for ratios in drawn):
        return "always"
    return "together" if len(ones) > 1 and reaches(ones) else "never"


def _only_scale_is_missing(query: Query, keys: Array, target: Array, ones: list[float]) -> bool:
    scores = query.scores(keys, 1.0, ones)
    if not np.isfinite(scores).all() or any(size.sign == "−" for size in query.sizes.values()):
        return False
    spread = float(np.ptp(scores))
    return spread > 1e-9 and bool(np.abs(weights_of(scores * (1e3 / spread)) - target).max() <= _LIMIT_TOLERANCE)


def _no_scale(
    query: Query, formula: str, targets: Targets, keys: Array, evidence: dict[str, Any], ones: list[float]
) -> Verdict:
    first = query.setting.labels.index(next(iter(targets)))
    n = len(keys)
    share = next(iter(targets.values()))
    if query.grown:
        letter = plain(query.grown[0])
        return partly(
            "the direction is right, but the scale is said to become small, and then the weights are even",
            f"with {formula} and {letter} as stated each weight is near {1 / n:.2f} for n = {n}, not {share}; "
            "multiply by a large constant",
            evidence,
        )
    weight = float(weights_of(query.scores(keys, 1.0, ones))[first])
    closed = evidence.get("weights", {}).get(next(iter(targets)), "")
    form = f" {closed}:" if closed else ""
    return partly(
        "the direction is right, but the scale is too small for the weights to come near their targets",
        f"with {formula} the weights are{form} {weight:.2f} each for n = {n}, not {share}; multiply by a large constant",
        evidence,
    )


def _misdirected(query: Query, keys: Array, target: Array, formula: str, ones: list[float]) -> tuple[str, str]:
    reached = limit_weights(query, keys, ones) if query.grown else weights_of(query.scores(keys, 1.0, ones))
    if reached is None or not np.isfinite(reached).all():
        return "the weights do not settle as the scale grows", formula
    labels = query.setting.labels
    n = len(keys)
    shares = ", ".join(f"{label}: {reached[place]:.2f}" for place, label in enumerate(labels))
    what = f"with {formula} the weights become {shares}, every other key: {reached[-1]:.2f} (n = {n})"
    if np.ptp(reached) < 1e-6:
        return "every key gets the same weight, so c is the mean of all values", what
    if reached[len(labels) :].sum() > 0.5:
        return "the weight goes to the other keys instead", what
    one = [label for place, label in enumerate(labels) if reached[place] > 0.95]
    if one:
        return f"nearly all weight goes to one key, {one[0]}", what
    return "the weights are not the ones asked for", what


def _finite(query: Query, keys: Array, ones: list[float]) -> dict[str, Any]:
    """Weights at a few scales, for figures and for the curious."""
    rows = []
    for scale in (1.0, 2.0, 5.0, 10.0, 20.0) if query.grown else (1.0,):
        try:
            scores = query.scores(keys, scale, ones)
        except Misfit:
            return {}
        if np.isfinite(scores).all():
            weights = weights_of(scores)
            shares = {label: float(weights[place]) for place, label in enumerate(query.setting.labels)}
            rows.append({"scale": scale, **shares, "each_other": float(weights[-1])})
    return {"weights_by_scale": rows}


def _proved(query: Query, targets: Targets) -> dict[str, Any]:
    """The weights in closed form with n a symbol, and their limits; what sympy cannot do in time is left out."""
    labels = query.setting.labels
    count = max(_PROOF_KEYS, len(labels) + 2)

    def proof() -> dict[str, Any]:
        basis = [sympy.Matrix(count, 1, lambda row, _, i=i: int(row == i)) for i in range(count)]
        families = dict.fromkeys({query.setting.known, query.setting.drawn or query.setting.known, "k"}, basis)
        column = as_sympy(query.expression, families, {label: i for i, label in enumerate(labels)}, count)
        scores = [sympy.expand(entry) for entry in column]
        own, others = scores[: len(labels)], scores[len(labels) :]
        if any(other != others[0] for other in others):
            return {"proved": False}
        n = sympy_symbol(Symbol("n"))
        total = sum((sympy.exp(score) for score in own), (n - len(labels)) * sympy.exp(others[0]))
        text = {label: _readable(sympy.exp(score), total) for label, score in zip(labels, own, strict=True)}
        signs = {size.sign for size in query.sizes.values()}
        if len(query.sizes) != 1 or "−" in signs:
            return {"weights": text, "proved": False}
        ((symbol, size),) = query.sizes.items()
        t = sympy_symbol(symbol)
        end = 0 if size.growth == "small" else sympy.oo
        gaps = [sympy.limit(own[0] - score, t, end, "+" if end == 0 else "-") for score in (*own[1:], others[0])]
        positive = [label for label in labels if targets.get(label)]
        even = len(positive) == len(labels) and all(gap == 0 for gap in gaps[:-1]) and gaps[-1] == sympy.oo
        alone = positive == [labels[0]] and all(gap == sympy.oo for gap in gaps)
        return {"weights": text, "proved": bool(even or alone)}

    return attempted(proof) or {"proved": False}


def _readable(over: Any, under: Any) -> str:
    text = f"{over}/({under})".replace("**", "^").replace("*", "·").replace("exp(1)", "e").replace("E", "e")
    return text if len(text) <= 80 else ""
