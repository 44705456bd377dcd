"""An encoder block's equations, and those with something done differently: each difference has a name.

y = LN(x + Attn(x)); z = LN(y + FFN(y)), with FFN(y) = W₂ ReLU(W₁ y + b₁) + b₂, as in `reference.transformer`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reference.equations import ACTIVATIONS as COMMON
from reference.equations import Array, Function, identity, layer_norm
from reference.mistakes.diagnosis import Diagnosis

Order = Callable[[Array, Function, Function, Function, Function], Array]

POST = Diagnosis("post-norm")
PRE = Diagnosis("pre-norm", "pre_norm")
SHARED_NORM = Diagnosis("one LayerNorm serves in both places", "one_norm_for_both")
_PRE_FOR_POST = Diagnosis("it is pre-norm, x + Attn(LN(x)); post-norm is asked for", PRE.code)
NO_MLP, NO_ATTENTION = "no_mlp", "no_attention"  # codes

# x, attention, feed-forward network, first and second LayerNorm
ORDERS: dict[Diagnosis, Order] = {
    POST: (lambda x, attend, feed, one, two: _then(one(x + attend(x)), lambda y: two(y + feed(y)))),
    PRE: (lambda x, attend, feed, one, two: _then(x + attend(one(x)), lambda y: y + feed(two(y)))),
    Diagnosis("the residual round the attention is missing", "no_attention_residual"): (
        lambda x, attend, feed, one, two: _then(one(attend(x)), lambda y: two(y + feed(y)))
    ),
    Diagnosis("the residual round the feed-forward network is missing", "no_mlp_residual"): (
        lambda x, attend, feed, one, two: two(feed(one(x + attend(x))))
    ),
    Diagnosis("both residuals are missing", "no_residuals"): (
        lambda x, attend, feed, one, two: two(feed(one(attend(x))))
    ),
    Diagnosis("the LayerNorm behind the attention is left out", "no_attention_norm"): (
        lambda x, attend, feed, one, two: _then(x + attend(x), lambda y: two(y + feed(y)))
    ),
    Diagnosis("the LayerNorm behind the feed-forward network is left out", "no_mlp_norm"): (
        lambda x, attend, feed, one, two: _then(one(x + attend(x)), lambda y: y + feed(y))
    ),
    Diagnosis("both LayerNorms are left out", "no_norms"): (
        lambda x, attend, feed, one, two: _then(x + attend(x), lambda y: y + feed(y))
    ),
    Diagnosis(
        "the LayerNorms come before the residuals are added, x + LN(Attn(x)) instead of LN(x + Attn(x))",
        "norms_before_residuals",
    ): (lambda x, attend, feed, one, two: _then(x + one(attend(x)), lambda y: y + two(feed(y)))),
    SHARED_NORM: (lambda x, attend, feed, one, two: _then(one(x + attend(x)), lambda y: one(y + feed(y)))),
    Diagnosis(
        "the second residual adds the block's input instead of what the attention gave", "mlp_residual_from_input"
    ): (lambda x, attend, feed, one, two: two(x + feed(one(x + attend(x))))),
    Diagnosis(
        "the second residual adds what the attention gave before its own residual and LayerNorm",
        "mlp_residual_from_attention",
    ): (lambda x, attend, feed, one, two: _then(attend(x), lambda a: two(a + feed(one(x + a))))),
    Diagnosis(
        "the residual round the feed-forward network adds what the network gave, not what it was given",
        "mlp_residual_from_its_output",
    ): (lambda x, attend, feed, one, two: two(2 * feed(one(x + attend(x))))),
    Diagnosis("the block's input is added once more behind the last LayerNorm", "input_added_again"): (
        lambda x, attend, feed, one, two: x + _then(one(x + attend(x)), lambda y: two(y + feed(y)))
    ),
    Diagnosis("it is normalised before the attention as well, LN(x + Attn(LN(x)))", "normalised_twice"): (
        lambda x, attend, feed, one, two: _then(one(x + attend(one(x))), lambda y: two(y + feed(y)))
    ),
    Diagnosis(
        "the feed-forward network works on the block's input instead of what the attention gave", "mlp_on_input"
    ): (lambda x, attend, feed, one, two: two(one(x + attend(x)) + feed(x))),
    Diagnosis("the feed-forward network works before the LayerNorm behind the attention", "mlp_before_norm"): (
        lambda x, attend, feed, one, two: _then(x + attend(x), lambda y: two(one(y) + feed(y)))
    ),
    Diagnosis("the residual takes what comes before the LayerNorm behind the attention", "residual_before_norm"): (
        lambda x, attend, feed, one, two: _then(x + attend(x), lambda y: two(y + feed(one(y))))
    ),
    Diagnosis("the feed-forward network comes before the attention", "mlp_before_attention"): (
        lambda x, attend, feed, one, two: _then(one(x + feed(x)), lambda y: two(y + attend(y)))
    ),
    Diagnosis(
        "attention and feed-forward network stand side by side instead of one behind the other", "mlp_beside_attention"
    ): (lambda x, attend, feed, one, two: two(one(x + attend(x)) + one(x + feed(x)))),
    Diagnosis("there is no feed-forward network in what it computes", NO_MLP): (
        lambda x, attend, feed, one, two: one(x + attend(x))
    ),
    Diagnosis("there is no feed-forward network in what it computes, only its LayerNorm", NO_MLP): (
        lambda x, attend, feed, one, two: two(one(x + attend(x)))
    ),
    Diagnosis("there is no attention in what it computes", NO_ATTENTION): (
        lambda x, attend, feed, one, two: two(one(x) + feed(one(x)))
    ),
    Diagnosis("there is no attention in what it computes, nor its LayerNorm", NO_ATTENTION): (
        lambda x, attend, feed, one, two: two(x + feed(x))
    ),
    Diagnosis("it is pre-norm, but its residuals add what is normalised", "residuals_normalised"): (
        lambda x, attend, feed, one, two: _then(
            _then(one(x), lambda n: n + attend(n)), lambda y: _then(two(y), lambda n: n + feed(n))
        )
    ),
    Diagnosis("it is pre-norm, and the residual round the attention is missing", "no_attention_residual"): (
        lambda x, attend, feed, one, two: _then(attend(one(x)), lambda y: y + feed(two(y)))
    ),
    Diagnosis("it is pre-norm, and the residual round the feed-forward network is missing", "no_mlp_residual"): (
        lambda x, attend, feed, one, two: feed(two(x + attend(one(x))))
    ),
    Diagnosis("it is pre-norm at the attention and post-norm at the feed-forward network", "mixed_norm_order"): (
        lambda x, attend, feed, one, two: _then(x + attend(one(x)), lambda y: two(y + feed(y)))
    ),
    Diagnosis("it is post-norm at the attention and pre-norm at the feed-forward network", "mixed_norm_order"): (
        lambda x, attend, feed, one, two: _then(one(x + attend(x)), lambda y: y + feed(two(y)))
    ),
}


def _then(y: Array, following: Function) -> Array:
    return following(y)


RELU, _NOTHING = "ReLU", "no activation"
ACTIVATIONS: dict[str, Function] = {
    RELU: COMMON["ReLU"],
    **COMMON,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "leaky ReLU": lambda x: np.where(x > 0, x, 0.01 * x),
    _NOTHING: identity,
}
AGAIN = "ReLU behind the second layer as well"
_CODES = {_NOTHING: "no_activation", AGAIN: "activation_twice"}  # of those that are not just another one


def _unbiased(x: Array, gain: Array, shift: Array) -> Array:
    width = x.shape[-1]
    return layer_norm(x, gain * np.sqrt((width - 1) / width), shift)


def _over_tokens(x: Array, gain: Array, shift: Array) -> Array:
    flat = layer_norm(x.swapaxes(1, 2), np.ones(()), np.zeros(())).swapaxes(1, 2)
    return np.asarray(flat * gain + shift)


def _over_both(x: Array, gain: Array, shift: Array) -> Array:
    flat = layer_norm(x.reshape(len(x), 1, -1), np.ones(()), np.zeros(())).reshape(x.shape)
    return np.asarray(flat * gain + shift)


def _by_running_numbers(x: Array, gain: Array, shift: Array) -> Array:
    """BatchNorm in evaluation mode, before it has seen anything: its mean is 0 and its variance 1."""
    return np.asarray(x / np.sqrt(1 + 1e-5) * gain + shift)


def _uncentred(x: Array, gain: Array, shift: Array) -> Array:
    return np.asarray(x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + 1e-5) * gain + shift)


FEATURES = Diagnosis("over the features")
OVER_TOKENS = Diagnosis(
    "its LayerNorm runs over the tokens instead of the features of each token", "norm_over_wrong_axis"
)
OVER_BOTH = Diagnosis(
    "its LayerNorm runs over tokens and features together instead of the features of each token", "norm_over_wrong_axis"
)
BATCH_NORM = Diagnosis("BatchNorm stands where LayerNorm is asked for", "batch_norm")
UNCENTRED = Diagnosis("its LayerNorm does not subtract the mean", "norm_without_mean")
UNBIASED = Diagnosis(
    "its LayerNorm divides by the unbiased deviation (D − 1); the biased one (D) is asked for", "unbiased_variance"
)
WITHOUT_SHIFT = Diagnosis("its LayerNorm leaves its shift out", "norm_without_shift")
WITHOUT_GAIN_OR_SHIFT = Diagnosis(
    "a LayerNorm without a learned gain and shift stands where one with both is asked for", "norm_not_learned"
)
NORMS: dict[Diagnosis, Callable[[Array, Array, Array], Array]] = {
    FEATURES: layer_norm,
    UNBIASED: _unbiased,
    OVER_TOKENS: _over_tokens,
    OVER_BOTH: _over_both,
    BATCH_NORM: _by_running_numbers,
    UNCENTRED: _uncentred,
    Diagnosis("its LayerNorm leaves its gain out", "norm_without_gain"): lambda x, gain, shift: layer_norm(
        x, np.ones_like(gain), shift
    ),
    WITHOUT_SHIFT: lambda x, gain, shift: layer_norm(x, gain, np.zeros_like(shift)),
}


@dataclass(frozen=True)
class Variant:
    """How a block is put together."""

    order: Diagnosis = POST
    activation: str = RELU

    def mistakes(self, orders: tuple[str, ...], activations: tuple[str, ...]) -> list[Diagnosis]:
        """What is not as asked, in words."""
        found = []
        if self.order not in orders:
            found.append(_PRE_FOR_POST if self.order == PRE else self.order)
        if self.activation not in activations:
            wanted = " or ".join(activations[:2])
            words = f"{self.activation} stands in the feed-forward network where {wanted} is asked for"
            found.append(Diagnosis(words, _CODES.get(self.activation, "wrong_activation")))
        return found
