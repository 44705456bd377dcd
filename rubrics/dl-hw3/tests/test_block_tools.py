"""What the checks of encoder block and ViT rest on: their equations are the reference's, and nothing else is."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from grader import Array
from reference import transformer
from reference.mistakes.encoder_blocks import ACTIVATIONS, FEATURES, NORMS, ORDERS, POST, PRE
from reference.mistakes.mixing import RIGHT, SELF_ATTENTION, Mix

RNG = np.random.default_rng(3)
WIDTH, HEADS, HIDDEN = 12, 3, 7
X = RNG.normal(size=(2, 5, WIDTH))


def _reference(order: str, activation: str) -> tuple[dict[str, Array], Array]:
    """Random parameters of the reference's block, and its output for X."""
    norm = "pre" if order == PRE else "post"
    block = transformer.EncoderBlock(WIDTH, HEADS, HIDDEN, norm, activation.lower()).double()  # type: ignore[arg-type]
    values = {name: RNG.normal(size=tuple(value.shape)) for name, value in block.named_parameters()}
    block.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    with torch.no_grad():
        return values, block(torch.tensor(X)).numpy()


def _block(values: dict[str, Array], order: str, activation: str, mix: Mix) -> Array:
    """The equations as the checks have them, with the reference's parameters."""

    def linear(part: str, x: Array) -> Array:
        (weight,) = (value for name, value in values.items() if name.endswith(f"{part}.weight"))
        (bias,) = (value for name, value in values.items() if name.endswith(f"{part}.bias"))
        return np.asarray(x @ weight.T + bias)

    def attend(x: Array) -> Array:
        q, k, v = (linear(f"attention.{role}", x) for role in ("query", "key", "value"))
        return linear("attention.output", mix(q, k, v, HEADS))

    def feed(x: Array) -> Array:
        return linear("feed_forward.down", ACTIVATIONS[activation](linear("feed_forward.up", x)))

    one, two = (
        partial(NORMS[FEATURES], gain=values[f"{name}.weight"], shift=values[f"{name}.bias"])
        for name in ("attention_norm", "feed_forward_norm")
    )
    return ORDERS[order](X, attend, feed, one, two)  # type: ignore[index]


@pytest.mark.parametrize("order", [POST, PRE])
@pytest.mark.parametrize("activation", ["ReLU", "GELU"])
def test_the_right_equations_are_the_references(order: str, activation: str) -> None:
    values, want = _reference(order, activation)
    (mix,) = SELF_ATTENTION[RIGHT]
    assert np.allclose(_block(values, order, activation, mix), want, atol=1e-10)


@pytest.mark.parametrize("mistake", [mistake for mistake in SELF_ATTENTION if mistake != RIGHT])
def test_each_mistake_of_the_attention_gives_other_values(mistake: str) -> None:
    values, want = _reference(POST, "ReLU")
    for mix in SELF_ATTENTION[mistake]:  # type: ignore[index]
        assert not np.allclose(_block(values, POST, "ReLU", mix), want, rtol=1e-3, atol=1e-3)
