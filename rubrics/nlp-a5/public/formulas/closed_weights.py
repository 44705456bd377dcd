"""A query's weights as evidence: at a few scales, and in closed form with n a symbol, with their limits."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from grader import Array
from grader.formulas import Symbol, as_sympy, attempted, sympy_symbol

from .weight_limits import Query, weights_of

_SHOWN_SCALES = (1.0, 2.0, 5.0, 10.0, 20.0)
_PROOF_KEYS = 5  # explicit keys in a proof: the targets and three others, which are alike
_MAX_CLOSED_FORM = 80  # characters; longer ones help nobody


def by_scale(query: Query, keys: Array) -> dict[str, Any]:
    """Weights at a few scales, for figures and for the curious."""
    rows = []
    for scale in _SHOWN_SCALES if query.grown else (1.0,):
        scores = query.scores(keys, scale)
        if np.isfinite(scores).all():
            weights = weights_of(scores)
            shares = {label: float(weights[place]) for place, label in enumerate(query.setting.labels)}
            rows.append({"scale": scale, **shares, "each_other": float(weights[-1])})
    return {"weights_by_scale": rows}


def proved(query: Query, targets: Mapping[str, Fraction]) -> dict[str, Any]:
    """The weights in closed form with n a symbol, and their limits; what sympy cannot do in time is left out."""
    labels = query.setting.labels
    count = max(_PROOF_KEYS, len(labels) + 2)

    def proof() -> dict[str, Any]:
        import sympy

        basis = [sympy.Matrix(count, 1, lambda row, _, i=i: int(row == i)) for i in range(count)]
        families = dict.fromkeys(query.setting.families, basis)
        column = as_sympy(query.expression, families, {label: i for i, label in enumerate(labels)}, count)
        scores = [sympy.expand(entry) for entry in column]
        own, others = scores[: len(labels)], scores[len(labels) :]
        if any(other != others[0] for other in others):
            return {"proved": False}
        n = sympy_symbol(Symbol("n"))
        total = sum((sympy.exp(score) for score in own), (n - len(labels)) * sympy.exp(others[0]))
        text = {label: _readable(sympy.exp(score), total) for label, score in zip(labels, own, strict=True)}
        signs = {claim.sign for claim in query.claims.values()}
        if len(query.claims) != 1 or "−" in signs:
            return {"weights": text, "proved": False}
        ((symbol, claim),) = query.claims.items()
        t = sympy_symbol(symbol)
        end = 0 if claim.growth == "small" else sympy.oo
        gaps = [sympy.limit(own[0] - score, t, end, "+" if end == 0 else "-") for score in (*own[1:], others[0])]
        positive = [label for label in labels if targets.get(label)]
        even = len(positive) == len(labels) and all(gap == 0 for gap in gaps[:-1]) and gaps[-1] == sympy.oo
        alone = positive == [labels[0]] and all(gap == sympy.oo for gap in gaps)
        return {"weights": text, "proved": bool(even or alone)}

    return attempted(proof) or {"proved": False}


def _readable(over: Any, under: Any) -> str:
    text = f"{over}/({under})".replace("**", "^").replace("*", "·").replace("exp(1)", "e").replace("E", "e")
    return text if len(text) <= _MAX_CLOSED_FORM else ""
