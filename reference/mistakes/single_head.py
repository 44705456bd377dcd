"""Classic mistakes in H = V·softargmax_β(KᵀQ): each cause with the ways in which students make it.

A way is a set of options of `attend`; without any it is right. Two ways that share no option can be made together.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np

from reference.attention import softargmax
from reference.mistakes.diagnosis import Diagnosis

Ways = dict[Diagnosis, list[dict[str, Any]]]


def attend(
    Q: Any,
    K: Any,
    V: Any,
    beta: float,
    *,
    scale: Callable[[Any, Any, float], float] = lambda Q, K, beta: beta,
    length: Callable[[Any], Any] = lambda X: X,
    weigh: Callable[[Any, float], Any] = softargmax,
    sees: Callable[[Any, Any], Any] | None = None,
    behind: Callable[[float], float] = lambda beta: 1.0,
    averaged: Callable[[Any, Any, Any], Any] = lambda Q, K, V: V,
    result: Callable[[Any, Any], Any] = lambda V, A: V @ A,
) -> Any:
    """Attention with something done differently. Where a query sees no key, NaN: there students' code differs."""
    Q, K, V = (np.asarray(array, np.float64) for array in (Q, K, V))
    scores = length(K).T @ length(Q)
    if sees is not None:
        key, query = np.indices(scores.shape)
        scores = np.where(sees(key, query), scores, -np.inf)
    A = weigh(scores, scale(Q, K, beta))
    A = np.where(np.isneginf(scores).all(axis=0), np.nan, A)
    return result(averaged(Q, K, V), behind(beta) * A)


def exponentials(scores: Any, beta: float) -> Any:
    return np.exp(beta * scores)


def shifted_exponentials(scores: Any, beta: float) -> Any:
    return np.exp(beta * (scores - scores.max(axis=0, keepdims=True)))


def shifted_by_key(scores: Any, beta: float) -> Any:
    weights = np.exp(beta * (scores - scores.max(axis=1, keepdims=True)))
    return weights / weights.sum(axis=0, keepdims=True)


def unsoftened(scores: Any, beta: float) -> Any:
    return beta * np.where(np.isneginf(scores), 0.0, scores)


def shares(scores: Any, beta: float) -> Any:
    return unsoftened(scores, beta) / unsoftened(scores, beta).sum(axis=0, keepdims=True)


def twice(scores: Any, beta: float) -> Any:
    return softargmax(softargmax(scores, beta))


def hard(scores: Any, beta: float) -> Any:
    return (np.arange(len(scores))[:, None] == scores.argmax(axis=0)).astype(float)


def over_queries(scores: Any, beta: float) -> Any:
    return softargmax(scores, beta, axis=1)


def over_everything(scores: Any, beta: float) -> Any:
    flat = softargmax(np.ravel(scores), beta)
    return flat.reshape(np.shape(scores))


def _unit(X: Any) -> Any:
    lengths = np.linalg.norm(X, axis=0, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1.0)


# How weights can be made of scores, wherever they come from.
WEIGHTS: Ways = {
    Diagnosis("the softargmax runs over the queries instead of the keys", "softmax_over_wrong_axis"): [
        {"weigh": over_queries}
    ],
    Diagnosis(
        "the softargmax runs over the whole matrix at once instead of each query's keys", "softmax_over_everything"
    ): [{"weigh": over_everything}],
    Diagnosis("the weights are not normalised", "weights_not_normalised"): [
        {"weigh": exponentials},
        {"weigh": shifted_exponentials},
    ],
    Diagnosis(
        "the largest score of each key is subtracted before exp, instead of each query's own", "shifted_by_key_maximum"
    ): [{"weigh": shifted_by_key}],
    Diagnosis("the softargmax is left out", "no_softmax"): [{"weigh": unsoftened}],
    Diagnosis("the scores are divided by their sum, without exp", "no_exp"): [{"weigh": shares}],
    Diagnosis("the softargmax is taken twice", "softmax_twice"): [{"weigh": twice}],
    Diagnosis("the largest score gets all the weight, as an argmax gives it", "hard_maximum"): [{"weigh": hard}],
}
CAUSAL = Diagnosis("keys after the query's own position are hidden, as by a causal mask", "hides_later_tokens")

SINGLE_HEAD: Ways = {
    **WEIGHTS,
    Diagnosis("β is left out", "beta_left_out"): [{"scale": lambda Q, K, beta: 1.0}],
    Diagnosis("the scores are scaled by 1/√d instead of β", "root_d_for_beta"): [
        {"scale": lambda Q, K, beta: 1 / sqrt(len(Q))}
    ],
    Diagnosis("the scores are scaled by 1/√d as well as by β", "root_d_and_beta"): [
        {"scale": lambda Q, K, beta: beta / sqrt(len(Q))}
    ],
    Diagnosis("the scores are divided by β", "divided_by_beta"): [{"scale": lambda Q, K, beta: 1 / beta}],
    Diagnosis("the scores are divided by β and by √d", "divided_by_beta_too"): [
        {"scale": lambda Q, K, beta: 1 / (beta * sqrt(len(Q)))}
    ],
    Diagnosis("the scores are divided by d, without the root", "scaled_too_much"): [
        {"scale": lambda Q, K, beta: beta / len(Q)},
        {"scale": lambda Q, K, beta: 1 / len(Q)},
    ],
    Diagnosis("the scores are divided by √n, n the number of queries", "scaled_by_query_count"): [
        {"scale": lambda Q, K, beta: beta / sqrt(Q.shape[1])},
        {"scale": lambda Q, K, beta: 1 / sqrt(Q.shape[1])},
    ],
    Diagnosis("the scores are divided by √m, m the number of keys", "scaled_by_key_count"): [
        {"scale": lambda Q, K, beta: beta / sqrt(K.shape[1])},
        {"scale": lambda Q, K, beta: 1 / sqrt(K.shape[1])},
    ],
    Diagnosis("β is applied twice", "beta_twice"): [{"scale": lambda Q, K, beta: beta * beta}],
    Diagnosis("β is made a whole number", "beta_made_whole"): [
        {"scale": lambda Q, K, beta: float(int(beta))},
        {"scale": lambda Q, K, b: round(b)},
    ],
    Diagnosis("the scores have the wrong sign", "wrong_sign"): [{"scale": lambda Q, K, beta: -beta}],
    Diagnosis("the base of the exponential is 2 instead of e", "wrong_exponential_base"): [
        {"scale": lambda Q, K, beta: beta * log(2)}
    ],
    Diagnosis("β multiplies the weights instead of the scores", "scale_behind_softmax"): [
        {"scale": lambda Q, K, beta: 1.0, "behind": lambda beta: beta},
    ],
    Diagnosis("β multiplies the weights as well as the scores", "scale_behind_softmax_too"): [
        {"behind": lambda beta: beta}
    ],
    Diagnosis("queries and keys are divided by their lengths", "lengths_divided_out"): [{"length": _unit}],
    Diagnosis("the weights average the keys instead of the values", "keys_averaged"): [{"averaged": lambda Q, K, V: K}],
    CAUSAL: [{"sees": lambda key, query: key <= query}],
    Diagnosis("keys before the query's own position are hidden", "hides_earlier_tokens"): [
        {"sees": lambda key, query: key >= query}
    ],
    Diagnosis("the weights are returned, without V", "weights_returned"): [
        {"result": lambda V, A: A},
        {"result": lambda V, A: A.T},
    ],
}


# ---- what runs only where sides agree, so that it crashes on rectangles ----

_SCORES: dict[str, Callable[[Any, Any], Any]] = {
    "KᵀQ": lambda Q, K: K.T @ Q,
    "QᵀK": lambda Q, K: Q.T @ K,
    "QKᵀ": lambda Q, K: Q @ K.T,
    "KQᵀ": lambda Q, K: K @ Q.T,
    "QK": lambda Q, K: Q @ K,
    "KQ": lambda Q, K: K @ Q,
}
_RESULTS: dict[str, Callable[[Any, Any], Any]] = {
    "VA": lambda V, A: V @ A,
    "VAᵀ": lambda V, A: V @ A.T,
    "AV": lambda V, A: A @ V,
    "AᵀV": lambda V, A: A.T @ V,
    "AVᵀ": lambda V, A: A @ V.T,
    "VᵀA": lambda V, A: V.T @ A,
}
_ROWS = "tokens are taken as rows, softmax(QKᵀ)V; here every column is a token, V·softargmax(KᵀQ)"
_SHARPNESS: dict[str, Callable[[Any, float], float]] = {
    "β": lambda Q, beta: beta,
    "1": lambda Q, beta: 1.0,
    "1/√d": lambda Q, beta: 1 / sqrt(len(Q)),
    "β/√d": lambda Q, beta: beta / sqrt(len(Q)),
}


def _on_squares() -> dict[str, list[Callable[..., Any]]]:
    """Every way to multiply Q, K and V, under the formula that it amounts to."""
    found: dict[str, list[Callable[..., Any]]] = {}
    for (scores, score), (along, axis), (out, give), sharpness in product(
        _SCORES.items(), (("column", 0), ("row", 1)), _RESULTS.items(), _SHARPNESS.values()
    ):
        if (scores, axis, out) == ("KᵀQ", 0, "VA"):
            continue

        def made(Q: Any, K: Any, V: Any, beta: float, own: Any = (score, axis, give, sharpness)) -> Any:
            score, axis, give, sharpness = own
            return give(V, softargmax(score(Q, K), sharpness(Q, beta), axis=axis))

        name = f"it computes {out} with the softargmax along each {along} of {scores}, instead of V·softargmax(KᵀQ)"
        found.setdefault(_ROWS if (scores, axis, out) == ("QKᵀ", 1, "AV") else name, []).append(made)
    return found


SINGLE_HEAD_ON_SQUARES = _on_squares()
