"""The character model and its variants: causality, shapes, each variant against a second derivation."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from reference.gpt import GPT, PAD, Block, CausalAttention, GPTConfig, Variant, complete_greedily
from reference.gpt_variants import DownProjectBlock, RotaryAttention, SynthesizerAttention, UpProjectBlock, gpt
from reference.rope import apply_rotary_emb

SMALL = GPTConfig(vocabulary=11, block=12, layers=3, heads=2, width=8, bottleneck=5)
VARIANTS = get_args(Variant)


def small_model(variant: Variant) -> GPT:
    torch.manual_seed(0)
    return gpt(replace(SMALL, variant=variant)).double()


def test_the_homeworks_sizes_are_the_default():
    config = GPTConfig(vocabulary=100)
    assert (config.layers, config.heads, config.width, config.block) == (4, 8, 256, 128)
    assert GPT(config)(torch.ones(1, 127, dtype=torch.long)).shape == (1, 127, 100)


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_logit_depends_on_a_later_character(variant):
    model = small_model(variant)
    ids = torch.randint(1, 11, (2, 11), generator=torch.Generator().manual_seed(1))
    before = model(ids)
    for position in range(11):
        changed = ids.clone()
        changed[:, position] = (changed[:, position] + 1) % 11
        after = model(changed)
        torch.testing.assert_close(after[:, :position], before[:, :position], atol=1e-12, rtol=0)
        assert not torch.allclose(after[:, position], before[:, position])


@pytest.mark.parametrize("variant", ["vanilla", "synthesizer", "rope"])
def test_an_earlier_character_reaches_the_last_logit(variant):
    model = small_model(variant)
    ids = torch.ones(1, 11, dtype=torch.long)
    changed = ids.clone()
    changed[0, 0] = 2
    assert not torch.allclose(model(changed)[0, -1], model(ids)[0, -1])


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_parameter_is_trained(variant):
    model = small_model(variant)
    ids = torch.randint(1, 11, (4, 11), generator=torch.Generator().manual_seed(2))
    model.loss(ids, ids).backward()
    idle = [name for name, parameter in model.named_parameters() if parameter.grad is None or not parameter.grad.any()]
    assert idle == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_length_up_to_the_block_gives_logits(variant):
    model = small_model(variant)
    for length in range(1, 12):
        assert model(torch.ones(1, length, dtype=torch.long)).shape == (1, length, 11)


def test_a_vanilla_block_equals_torchs_pre_norm_layer():
    torch.manual_seed(3)
    ours = Block(SMALL, CausalAttention(SMALL)).double()
    theirs = nn.TransformerEncoderLayer(
        8, 2, 32, dropout=0.0, activation="gelu", batch_first=True, norm_first=True, dtype=torch.float64
    )
    with torch.no_grad():
        parts = [ours.attention.query, ours.attention.key, ours.attention.value]
        theirs.self_attn.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.self_attn.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.self_attn.out_proj.load_state_dict(ours.attention.output.state_dict())
    theirs.linear1.load_state_dict(ours.mlp.up.state_dict())
    theirs.linear2.load_state_dict(ours.mlp.down.state_dict())
    x = torch.randn(2, 7, 8, dtype=torch.float64)
    want = theirs(x, src_mask=nn.Transformer.generate_square_subsequent_mask(7, dtype=torch.float64))
    torch.testing.assert_close(ours(x), want, atol=1e-10, rtol=0)


def test_synthesizer_equals_an_explicit_loop():
    torch.manual_seed(4)
    layer = SynthesizerAttention(SMALL).double()
    nn.init.normal_(layer.w2)
    nn.init.normal_(layer.b2)
    x = torch.randn(2, 6, 8, dtype=torch.float64)
    hidden, values = F.relu(layer.w1(x)), layer.value(x)
    want = torch.zeros_like(x)
    for b in range(2):
        for head in range(2):
            features = slice(4 * head, 4 * head + 4)
            for t in range(6):
                scores = torch.stack([hidden[b, t, features] @ layer.w2[:, s] + layer.b2[s] for s in range(t + 1)])
                weights = scores.exp() / scores.exp().sum()
                want[b, t, features] = sum(weights[s] * values[b, s, features] for s in range(t + 1))
    torch.testing.assert_close(layer(x), layer.output(want), atol=1e-10, rtol=0)


def test_down_projection_lets_the_basis_ask_the_tokens():
    torch.manual_seed(5)
    block = DownProjectBlock(SMALL).double()
    assert block.C.shape == (1, 5, 8)
    assert "C" in block.state_dict()
    x = torch.randn(3, 9, 8, dtype=torch.float64)
    got = block(x)
    assert got.shape == (3, 5, 8)
    theirs = nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    ours = block.attention
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key.weight, ours.value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())
    hidden = torch.ones(5, 9, dtype=torch.bool).triu(1)
    tokens = F.layer_norm(x, (8,))
    y, _ = theirs(block.C.expand(3, 5, 8), tokens, tokens, attn_mask=hidden, need_weights=False)
    want = y + block.mlp(F.layer_norm(y, (8,)))
    torch.testing.assert_close(got, want, atol=1e-10, rtol=0)


def test_up_projection_gives_back_the_length_and_uses_both_inputs():
    torch.manual_seed(6)
    block = UpProjectBlock(SMALL).double()
    y, x = torch.randn(3, 5, 8, dtype=torch.float64), torch.randn(3, 9, 8, dtype=torch.float64)
    assert block(y, x).shape == (3, 9, 8)
    assert not torch.allclose(block(y + 1e-3 * torch.randn_like(y), x), block(y, x))
    permuted = torch.roll(x, 1, dims=1)
    assert not torch.allclose(block(y, permuted), block(y, x))


def test_basis_rows_see_only_tokens_up_to_their_index():
    torch.manual_seed(7)
    block = DownProjectBlock(SMALL).double()
    x = torch.randn(1, 9, 8, dtype=torch.float64)
    before = block(x)
    x[:, 3] += torch.randn(8, dtype=torch.float64)
    after = block(x)
    torch.testing.assert_close(after[:, :3], before[:, :3], atol=1e-12, rtol=0)
    assert not torch.allclose(after[:, 3:], before[:, 3:])


@pytest.mark.parametrize("attention", [CausalAttention, RotaryAttention, SynthesizerAttention])
def test_attention_gradients_pass_gradcheck(attention):
    torch.manual_seed(8)
    layer = attention(SMALL).double()
    assert torch.autograd.gradcheck(layer, torch.randn(1, 4, 8, dtype=torch.float64, requires_grad=True))


def test_rope_attention_equals_torchs_on_rotated_queries_and_keys():
    torch.manual_seed(9)
    layer = RotaryAttention(SMALL).double()
    q, k, v = torch.randn(3, 1, 2, 4, 4, dtype=torch.float64)
    turned = (apply_rotary_emb(each, layer.rotations) for each in (q, k))
    want = F.scaled_dot_product_attention(*turned, v, is_causal=True)
    torch.testing.assert_close(layer.mix(q, k, v), want, atol=1e-10, rtol=0)


def test_attention_to_another_sequence_refuses_one_of_another_batch():
    with pytest.raises(ValueError, match=r"2×5×8.*3×5×8"):
        CausalAttention(SMALL)(torch.ones(2, 5, 8), torch.ones(3, 5, 8))


def test_padding_does_not_count_in_the_loss():
    model = small_model("vanilla")
    ids = torch.randint(1, 11, (2, 8), generator=torch.Generator().manual_seed(3))
    targets = ids.clone()
    targets[:, 5:] = PAD
    by_hand = F.cross_entropy(model(ids)[:, :5].reshape(-1, 11), targets[:, :5].reshape(-1))
    torch.testing.assert_close(model.loss(ids, targets), by_hand, atol=1e-12, rtol=0)


def test_completion_appends_the_likeliest_character_again_and_again():
    model = small_model("vanilla")
    ids = torch.tensor([[3, 4], [5, 6]])
    completed = complete_greedily(model, ids, 14)  # past the block of 12: the oldest characters leave the window
    assert completed.shape == (2, 16)
    for length in range(2, 16):
        window = completed[:, max(0, length - 12) : length]
        assert torch.equal(completed[:, length], model(window)[:, -1].argmax(dim=-1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: GPTConfig(10, width=10, heads=3), "3 heads"),
        (lambda: GPTConfig(10, variant="performer"), "'performer'"),
        (lambda: GPTConfig(10, variant="perceiver", layers=1), "1 layers"),
        (lambda: small_model("vanilla")(torch.ones(1, 13, dtype=torch.long)), "1×13"),
        (lambda: small_model("vanilla")(torch.ones(1, 0, dtype=torch.long)), "1×0"),
        (lambda: small_model("vanilla")(torch.full((1, 3), 11)), "0 to 10"),
        (lambda: small_model("synthesizer")(torch.ones(1, 12, dtype=torch.long)), "1 to 11"),
        (lambda: SynthesizerAttention(SMALL)(torch.ones(1, 12, 8)), "11 positions"),
        (lambda: small_model("vanilla").loss(torch.ones(1, 3).long(), torch.ones(1, 2).long()), "1×3.*1×2"),
    ],
)
def test_bad_input_is_refused_with_its_shape(call, words):
    with pytest.raises(ValueError, match=words):
        call()
