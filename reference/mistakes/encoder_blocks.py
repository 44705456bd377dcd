"""An encoder block's equations, and those with something done differently: each difference has a name.

y = LN(x + Attn(x)); z = LN(y + FFN(y)), with FFN(y) = W₂ ReLU(W₁ y + b₁) + b₂, as in `reference.transformer`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product

import numpy as np

from reference.numpy_layers import ACTIVATIONS as COMMON
from reference.numpy_layers import Array, Function, identity, layer_norm

Order = Callable[[Array, Function, Function, Function, Function], Array]

POST, PRE = "post-norm", "pre-norm"
_NONE = "there is no"

# x, attention, feed-forward network, first and second LayerNorm
ORDERS: dict[str, Order] = {
    POST: lambda x, attend, feed, one, two: _then(one(x + attend(x)), lambda y: two(y + feed(y))),
    PRE: lambda x, attend, feed, one, two: _then(x + attend(one(x)), lambda y: y + feed(two(y))),
    "the residual round the attention is missing": lambda x, attend, feed, one, two: _then(
        one(attend(x)), lambda y: two(y + feed(y))
    ),
    "the residual round the feed-forward network is missing": lambda x, attend, feed, one, two: two(
        feed(one(x + attend(x)))
    ),
    "both residuals are missing": lambda x, attend, feed, one, two: two(feed(one(attend(x)))),
    "the LayerNorm behind the attention is left out": lambda x, attend, feed, one, two: _then(
        x + attend(x), lambda y: two(y + feed(y))
    ),
    "the LayerNorm behind the feed-forward network is left out": lambda x, attend, feed, one, two: _then(
        one(x + attend(x)), lambda y: y + feed(y)
    ),
    "both LayerNorms are left out": lambda x, attend, feed, one, two: _then(x + attend(x), lambda y: y + feed(y)),
    "the LayerNorms come before the residuals are added, x + LN(Attn(x)) instead of LN(x + Attn(x))": (
        lambda x, attend, feed, one, two: _then(x + one(attend(x)), lambda y: y + two(feed(y)))
    ),
    "one LayerNorm serves in both places": lambda x, attend, feed, one, two: _then(
        one(x + attend(x)), lambda y: one(y + feed(y))
    ),
    "the second residual adds the block's input instead of what the attention gave": (
        lambda x, attend, feed, one, two: two(x + feed(one(x + attend(x))))
    ),
    "the second residual adds what the attention gave before its own residual and LayerNorm": (
        lambda x, attend, feed, one, two: _then(attend(x), lambda a: two(a + feed(one(x + a))))
    ),
    "the residual round the feed-forward network adds what the network gave, not what it was given": (
        lambda x, attend, feed, one, two: two(2 * feed(one(x + attend(x))))
    ),
    "the block's input is added once more behind the last LayerNorm": (
        lambda x, attend, feed, one, two: x + _then(one(x + attend(x)), lambda y: two(y + feed(y)))
    ),
    "it is normalised before the attention as well, LN(x + Attn(LN(x)))": (
        lambda x, attend, feed, one, two: _then(one(x + attend(one(x))), lambda y: two(y + feed(y)))
    ),
    "the feed-forward network works on the block's input instead of what the attention gave": (
        lambda x, attend, feed, one, two: two(one(x + attend(x)) + feed(x))
    ),
    "the feed-forward network works before the LayerNorm behind the attention": (
        lambda x, attend, feed, one, two: _then(x + attend(x), lambda y: two(one(y) + feed(y)))
    ),
    "the residual takes what comes before the LayerNorm behind the attention": (
        lambda x, attend, feed, one, two: _then(x + attend(x), lambda y: two(y + feed(one(y))))
    ),
    "the feed-forward network comes before the attention": lambda x, attend, feed, one, two: _then(
        one(x + feed(x)), lambda y: two(y + attend(y))
    ),
    "attention and feed-forward network stand side by side instead of one behind the other": (
        lambda x, attend, feed, one, two: two(one(x + attend(x)) + one(x + feed(x)))
    ),
    f"{_NONE} feed-forward network in what it computes": lambda x, attend, feed, one, two: one(x + attend(x)),
    f"{_NONE} feed-forward network in what it computes, only its LayerNorm": lambda x, attend, feed, one, two: two(
        one(x + attend(x))
    ),
    f"{_NONE} attention in what it computes": lambda x, attend, feed, one, two: two(one(x) + feed(one(x))),
    f"{_NONE} attention in what it computes, nor its LayerNorm": lambda x, attend, feed, one, two: two(x + feed(x)),
    "it is pre-norm, but its residuals add what is normalised": lambda x, attend, feed, one, two: _then(
        _then(one(x), lambda n: n + attend(n)), lambda y: _then(two(y), lambda n: n + feed(n))
    ),
    "it is pre-norm, and the residual round the attention is missing": lambda x, attend, feed, one, two: _then(
        attend(one(x)), lambda y: y + feed(two(y))
    ),
    "it is pre-norm, and the residual round the feed-forward network is missing": (
        lambda x, attend, feed, one, two: feed(two(x + attend(one(x))))
    ),
    "it is pre-norm at the attention and post-norm at the feed-forward network": (
        lambda x, attend, feed, one, two: _then(x + attend(one(x)), lambda y: two(y + feed(y)))
    ),
    "it is post-norm at the attention and pre-norm at the feed-forward network": (
        lambda x, attend, feed, one, two: _then(one(x + attend(x)), lambda y: y + feed(two(y)))
    ),
}


def _then(y: Array, following: Function) -> Array:
    return following(y)


RELU = "ReLU"
ACTIVATIONS: dict[str, Function] = {
    RELU: COMMON["ReLU"],
    **COMMON,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "leaky ReLU": lambda x: np.where(x > 0, x, 0.01 * x),
    "no activation": identity,
}
_LIKELY = ("GELU", "no activation")
AGAIN = "ReLU behind the second layer as well"


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


FEATURES = "over the features"
OVER_TOKENS = "its LayerNorm runs over the tokens instead of the features of each token"
OVER_BOTH = "its LayerNorm runs over tokens and features together instead of the features of each token"
BATCH_NORM = "BatchNorm stands where LayerNorm is asked for"
UNCENTRED = "its LayerNorm does not subtract the mean"
UNBIASED = "its LayerNorm divides by the unbiased deviation (D − 1); the biased one (D) is asked for"
WITHOUT_SHIFT = "its LayerNorm leaves its shift out"
WITHOUT_GAIN_OR_SHIFT = "a LayerNorm without a learned gain and shift stands where one with both is asked for"
NORMS: dict[str, Callable[[Array, Array, Array], Array]] = {
    FEATURES: layer_norm,
    UNBIASED: _unbiased,
    OVER_TOKENS: _over_tokens,
    OVER_BOTH: _over_both,
    BATCH_NORM: _by_running_numbers,
    UNCENTRED: _uncentred,
    "its LayerNorm leaves its gain out": lambda x, gain, shift: layer_norm(x, np.ones_like(gain), shift),
    WITHOUT_SHIFT: lambda x, gain, shift: layer_norm(x, gain, np.zeros_like(shift)),
}


@dataclass(frozen=True)
class Variant:
    """How a block is put together."""

    order: str = POST
    activation: str = RELU
    norm: str = FEATURES

    def mistakes(self, orders: tuple[str, ...], activations: tuple[str, ...]) -> list[str]:
        """What is not as asked, in words."""
        found = []
        if self.order not in orders:
            found.append("it is pre-norm, x + Attn(LN(x)); post-norm is asked for" if self.order == PRE else self.order)
        if self.activation not in activations:
            wanted = " or ".join(activations[:2])
            found.append(f"{self.activation} stands in the feed-forward network where {wanted} is asked for")
        return [*found, *([self.norm] if self.norm != FEATURES else [])]


@lru_cache
def variants(orders: tuple[str, ...], activations: tuple[str, ...]) -> tuple[list[Variant], list[Variant]]:
    """The right ones; those with one mistake, then those with two that are likely together."""
    every = [Variant(*choice) for choice in product(ORDERS, [*ACTIVATIONS, AGAIN], NORMS)]
    likely = [Variant(order, activation) for order, activation in product(ORDERS, _LIKELY)]
    likely += [
        Variant(order, activation, norm)
        for order, activation, norm in product(ORDERS, (RELU, *_LIKELY), (UNBIASED, BATCH_NORM, UNCENTRED))
    ]

    def with_mistakes(count: int, among: list[Variant]) -> list[Variant]:
        return [variant for variant in among if len(variant.mistakes(orders, activations)) == count]

    return with_mistakes(0, every), [*with_mistakes(1, every), *with_mistakes(2, likely)]


def block(
    x: Array,
    attend: Function,
    mlp: Callable[[Array, Function], Array],
    norms: tuple[Callable[..., Array], Callable[..., Array]],
    variant: Variant,
) -> Array:
    """The MLP is given an activation, the LayerNorms how to normalise: one of NORMS."""
    one, two = (partial(norm, how=NORMS[variant.norm]) for norm in norms)
    return ORDERS[variant.order](x, attend, _feed_forward(mlp, variant.activation), one, two)


def _feed_forward(mlp: Callable[[Array, Function], Array], activation: str) -> Function:
    if activation == AGAIN:
        relu = ACTIVATIONS[RELU]
        return lambda x: relu(mlp(x, relu))
    return lambda x: mlp(x, ACTIVATIONS[activation])
