"""A Synthesizer's classic mistakes by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np

from reference.equations import ACTIVATIONS, Array, identity, softmax
from reference.mistakes.diagnosis import Diagnosis, all_of
from reference.mistakes.mixing import (
    JOINED,
    NO_SOFTMAX,
    OVER_HEADS,
    OVER_QUERIES,
    UNMASKED,
    VIEWED,
    view_as_heads,
    view_as_rows,
)
from reference.variations import Synthesis, future, masked


def _later(scores: Array, first: int = 1) -> Array:
    return future(scores.shape[-2], scores.shape[-1], first)


def _scaled(width: int, heads: int) -> float:
    return sqrt(heads / width)


_Slip = dict[str, Any]  # fields of Synthesis
_SLIPS: dict[Diagnosis, _Slip] = {
    Diagnosis("the ReLU is left out", "no_activation"): {"activation": identity},
    Diagnosis("GELU stands where ReLU is asked for", "wrong_activation"): {"activation": ACTIVATIONS["GELU"]},
    Diagnosis("the ReLU is applied to the scores instead of x W₁ + b₁", "activation_on_scores"): {
        "activation": identity,
        "on_scores": ACTIVATIONS["ReLU"],
    },
    Diagnosis("the scores are scaled by 1/√(n_embd/n_head)", "scores_scaled"): {"scale": _scaled},
    Diagnosis("the scores are scaled by 1/√(n_embd/n_head) before b₂ is added", "scores_scaled"): {
        "scale_before_bias": _scaled
    },
    Diagnosis("the scores are scaled by 1/√n_embd", "scores_scaled"): {"scale": lambda width, heads: 1 / sqrt(width)},
    UNMASKED: {"weigh": softmax},
    Diagnosis("the mask comes after the softmax, so the weights do not sum to one", "mask_after_softmax"): {
        "weigh": lambda scores: softmax(scores) * ~_later(scores)
    },
    Diagnosis("masked scores are 0 instead of −∞, so that later tokens still get weight", "masked_scores_are_zero"): {
        "weigh": lambda scores: softmax(np.where(_later(scores), 0.0, scores))
    },
    NO_SOFTMAX: {"weigh": lambda scores: np.where(_later(scores), 0.0, scores)},
    OVER_QUERIES: {"weigh": lambda scores: softmax(masked(scores, _later(scores)), axis=-2)},
    OVER_HEADS: {"weigh": lambda scores: softmax(np.where(_later(scores), -1e10, scores), axis=1)},
    Diagnosis("the mask hides the past instead of the future", "mask_reversed"): {
        "weigh": lambda scores: softmax(masked(scores, _later(scores).T))
    },
    Diagnosis("the mask hides a token from itself", "token_hidden_from_itself"): {
        "weigh": lambda scores: softmax(masked(scores, _later(scores, first=0)))
    },
    Diagnosis("w₂ and b₂ are cut to their last T columns instead of their first", "last_columns_used"): {
        "columns": lambda length: slice(-length, None)
    },
    VIEWED: {"split": view_as_heads},
    JOINED: {"join": view_as_rows},
}


def _one_after_the_other() -> Iterator[tuple[Diagnosis, _Slip]]:
    """Each slip alone, then any two that can be made at once."""
    yield from _SLIPS.items()
    for (name, slip), (other_name, other) in combinations(_SLIPS.items(), 2):
        scaled_twice = {"scale", "scale_before_bias"} <= slip.keys() | other.keys()
        if not slip.keys() & other.keys() and not scaled_twice:
            yield all_of((name, other_name), "; and "), slip | other


MISTAKES: dict[Diagnosis, Synthesis] = {name: Synthesis(**slip) for name, slip in _one_after_the_other()}
