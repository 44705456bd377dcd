"""LayerNorm, blocks and encoder against torch's own layers, weights copied across."""

from __future__ import annotations

from math import cos, sin

import pytest
import torch
from torch import nn

from reference.equations import causal_mask
from reference.transformer import (
    Encoder,
    EncoderBlock,
    FeedForward,
    LayerNorm,
    LearnedPositions,
    sinusoidal_positions,
)

PRECISIONS = [(torch.float64, 1e-10), (torch.float32, 1e-5)]


def copy_block(ours: EncoderBlock, theirs: nn.TransformerEncoderLayer) -> None:
    """Copy their weights into ours, after making all of theirs random, so that none can be forgotten."""
    with torch.no_grad():
        for parameter in theirs.parameters():
            nn.init.normal_(parameter, std=0.5)
        parts = (ours.attention.query, ours.attention.key, ours.attention.value)
        attention = theirs.self_attn
        weights, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
        for part, weight, bias in zip(parts, weights, biases, strict=True):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
    ours.attention.output.load_state_dict(attention.out_proj.state_dict())
    ours.feed_forward.up.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.down.load_state_dict(theirs.linear2.state_dict())
    ours.attention_norm.load_state_dict(theirs.norm1.state_dict())
    ours.feed_forward_norm.load_state_dict(theirs.norm2.state_dict())


@pytest.mark.parametrize(("dtype", "atol"), PRECISIONS)
def test_layer_norm_equals_torchs(dtype, atol):
    torch.manual_seed(0)
    ours, theirs = LayerNorm(6).to(dtype), nn.LayerNorm(6, dtype=dtype)
    nn.init.normal_(theirs.weight)
    nn.init.normal_(theirs.bias)
    ours.load_state_dict(theirs.state_dict())
    x = 3 * torch.randn(2, 5, 6, dtype=dtype) + 2
    torch.testing.assert_close(ours(x), theirs(x), atol=atol, rtol=0)
    torch.testing.assert_close(ours(torch.ones(1, 6, dtype=dtype)), theirs.bias[None], atol=atol, rtol=0)


def test_layer_norm_divides_by_the_number_of_features_not_by_one_less():
    x = torch.tensor([[1.0, 3.0]], dtype=torch.float64)
    torch.testing.assert_close(LayerNorm(2, epsilon=0.0).double()(x), torch.tensor([[-1.0, 1.0]], dtype=torch.float64))


@pytest.mark.parametrize(("dtype", "atol"), PRECISIONS)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_block_equals_torchs_encoder_layer(dtype, atol, norm, activation):
    torch.manual_seed(1)
    theirs = nn.TransformerEncoderLayer(
        8, 2, 12, dropout=0.0, activation=activation, batch_first=True, norm_first=norm == "pre", dtype=dtype
    )
    ours = EncoderBlock(8, 2, 12, norm, activation).to(dtype)
    copy_block(ours, theirs)
    x, mask = torch.randn(3, 5, 8, dtype=dtype), torch.from_numpy(causal_mask(5, 5))
    # values reach 10 and more with these weights, so float32 is compared relatively as well
    torch.testing.assert_close(ours(x), theirs(x), atol=atol, rtol=atol)
    torch.testing.assert_close(ours(x, mask), theirs(x, src_mask=~mask), atol=atol, rtol=atol)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_encoder_equals_torchs_stack(norm):
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(
        8, 2, 12, dropout=0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    last = nn.LayerNorm(8, dtype=torch.float64) if norm == "pre" else None
    theirs = nn.TransformerEncoder(layer, 3, norm=last, enable_nested_tensor=False)
    ours = Encoder(8, 2, 12, 3, norm).double()
    for block, their_block in zip(ours.blocks, theirs.layers, strict=True):
        copy_block(block, their_block)
    x = torch.randn(2, 4, 8, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_block_gradients_pass_gradcheck(norm):
    torch.manual_seed(3)
    block = EncoderBlock(4, 2, 6, norm, "gelu").double()
    assert torch.autograd.gradcheck(block, torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True))


def test_the_network_inside_a_block_treats_every_position_alike():
    network = FeedForward(4, 8)
    x = torch.randn(2, 5, 4)
    torch.testing.assert_close(network(x)[:, 3], network(x[:, 3]))


def test_permuting_tokens_permutes_an_encoder_without_positions():
    encoder = Encoder(8, 2, 16, 2).double()
    x, order = torch.randn(1, 6, 8, dtype=torch.float64), torch.randperm(6)
    torch.testing.assert_close(encoder(x[:, order]), encoder(x)[:, order], atol=1e-10, rtol=0)


def test_sinusoids_are_sine_and_cosine_in_turn():
    table = sinusoidal_positions(50, 6)
    for t in (0, 1, 49):
        want = [f(t / 10000 ** (2 * i / 6)) for i in range(3) for f in (sin, cos)]
        torch.testing.assert_close(table[t], torch.tensor(want, dtype=torch.float64), atol=1e-12, rtol=0)


def test_learned_positions_are_added_and_trained():
    positions = LearnedPositions(7, 4)
    x = torch.randn(2, 5, 4)
    moved = positions(x)
    torch.testing.assert_close(moved - x, positions.table[:5].expand(2, 5, 4), atol=1e-6, rtol=0)
    moved.sum().backward()
    assert (positions.table.grad[:5] == 2).all()
    assert (positions.table.grad[5:] == 0).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LayerNorm(4)(torch.ones(2, 3)), "2×3"),
        (lambda: EncoderBlock(8, 3, 8), "3 heads"),
        (lambda: EncoderBlock(8, 2, 8)(torch.ones(8)), "but is 8"),
        (lambda: EncoderBlock(8, 2, 8, norm="last"), "'last'"),
        (lambda: FeedForward(4, 4, "tanh"), "relu, gelu"),
        (lambda: LearnedPositions(3, 4)(torch.ones(1, 4, 4)), "1×4×4"),
        (lambda: sinusoidal_positions(4, 5), "even width"),
    ],
)
def test_bad_input_is_refused_with_its_shape(call, words):
    with pytest.raises(ValueError, match=words):
        call()
