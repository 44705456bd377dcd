"""A Synthesizer's classic mistakes by name."""

from __future__ import annotations

from math import sqrt

import numpy as np

from reference.mistakes.mixing import JOINED, NO_SOFTMAX, OVER_QUERIES, VIEWED, view_as_heads, view_as_rows
from reference.numpy_attention import Synthesis
from reference.numpy_layers import ACTIVATIONS, Array, future, identity, masked, softmax


def _later(scores: Array, first: int = 1) -> Array:
    return future(scores.shape[-2], scores.shape[-1], first)


MISTAKES: dict[str, Synthesis] = {
    "the ReLU is left out": Synthesis(activation=identity),
    "GELU stands where ReLU is asked for": Synthesis(activation=ACTIVATIONS["GELU"]),
    "the ReLU is applied to the scores instead of x W₁ + b₁": Synthesis(
        activation=identity, on_scores=ACTIVATIONS["ReLU"]
    ),
    "the scores are scaled by 1/√(n_embd/n_head)": Synthesis(scale=lambda width, heads: sqrt(heads / width)),
    "the scores are scaled by 1/√n_embd": Synthesis(scale=lambda width, heads: 1 / sqrt(width)),
    "nothing is masked": Synthesis(weigh=softmax),
    "the mask comes after the softmax, so the weights do not sum to one": Synthesis(
        weigh=lambda scores: softmax(scores) * ~_later(scores)
    ),
    NO_SOFTMAX: Synthesis(weigh=lambda scores: np.where(_later(scores), 0.0, scores)),
    OVER_QUERIES: Synthesis(weigh=lambda scores: softmax(masked(scores, _later(scores)), axis=-2)),
    "the mask hides the past instead of the future": Synthesis(
        weigh=lambda scores: softmax(masked(scores, _later(scores).T))
    ),
    "the mask hides a token from itself": Synthesis(
        weigh=lambda scores: softmax(masked(scores, _later(scores, first=0)))
    ),
    "w₂ and b₂ are cut to their last T columns instead of their first": Synthesis(
        columns=lambda length: slice(-length, None)
    ),
    VIEWED: Synthesis(split=view_as_heads),
    JOINED: Synthesis(join=view_as_rows),
}
