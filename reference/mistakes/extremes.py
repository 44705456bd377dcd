"""What goes wrong only where scores are huge: exp overflows or underflows, or what was to prevent it changes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference.attention import softargmax
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.several_heads import Masking, filled
from reference.mistakes.single_head import Ways


def _clipped(low: float, high: float) -> Any:
    """Any bound between what float32's exp can take and the scores that are asked about gives the same weights."""

    def weigh(scores: Any, beta: float) -> Any:
        hidden = np.isneginf(scores)
        return softargmax(np.where(hidden, -np.inf, np.clip(beta * np.where(hidden, 0.0, scores), low, high)))

    return weigh


def _normalised(exponentials: Any) -> Any:
    return exponentials / exponentials.sum(axis=0, keepdims=True)


def _shifted_by_one_for_all(scores: Any, beta: float) -> Any:
    return _normalised(np.exp(beta * scores - (beta * scores).max()))


def _shifted_before_scaling(scores: Any, beta: float) -> Any:
    return _normalised(np.exp(beta * scores - scores.max(axis=0, keepdims=True)))


def _shifted_by_the_mean(scores: Any, beta: float) -> Any:
    return _normalised(np.exp(beta * scores - (beta * scores).mean(axis=0, keepdims=True)))


def _as_it_stands(scores: Any, beta: float) -> Any:
    return _normalised(np.exp(beta * scores))


def _shifted_before_masking(scores: Any, mask: Any, beta: float, weigh: Any, head: int) -> Any:
    return _normalised(np.exp(beta * (scores - scores.max(axis=0, keepdims=True))) * mask)


def _lowered(by: float) -> Masking:
    return lambda scores, mask, beta, weigh, head: weigh(beta * scores - by * ~np.asarray(mask), 1.0)


_BOUND = 500.0

WEIGHTS_AT_EXTREMES: Ways = {
    Diagnosis(
        "the scores are clipped, which makes different huge scores equal; subtract each query's largest score instead",
        "scores_clipped",
    ): [
        {"weigh": _clipped(-_BOUND, _BOUND)},
        {"weigh": _clipped(-np.inf, _BOUND)},
        {"weigh": _clipped(-_BOUND, np.inf)},
    ],
    Diagnosis(
        "the largest score of the whole matrix is subtracted before exp, instead of each query's own",
        "shifted_by_whole_maximum",
    ): [{"weigh": _shifted_by_one_for_all}],
    Diagnosis("the largest score is taken before the scores are scaled by β", "shifted_before_scaling"): [
        {"weigh": _shifted_before_scaling}
    ],
    Diagnosis("the mean score is subtracted before exp, instead of the largest", "shifted_by_mean"): [
        {"weigh": _shifted_by_the_mean}
    ],
}
OVERFLOWS: Ways = {
    Diagnosis("exp overflows or underflows; subtract each query's largest score before exp", "exp_overflows"): [
        {"weigh": _as_it_stands},
    ],
}
MASKS_AT_EXTREMES: Ways = {
    Diagnosis(
        "the largest score is taken before the mask is applied, so exp of what a query may see underflows",
        "shifted_before_masking",
    ): [{"masking": _shifted_before_masking}],
    Diagnosis("masked scores are set to a number that is not low enough; −∞ is", "masked_scores_too_high"): [
        {"masking": masking(size)} for size in (1e2, 1e3, 1e4) for masking in (lambda size: filled(-size), _lowered)
    ],
}
