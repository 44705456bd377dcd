"""The torch attention modules against torch's own, with their weights copied across."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from reference.equations import attention, causal_mask, join_heads, split_heads
from reference.transformer import MultiHeadAttention


def with_torch_weights(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    with torch.no_grad():
        parts = (ours.query, ours.key, ours.value)
        for part, weight, bias in zip(parts, theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
        ours.output.weight.copy_(theirs.out_proj.weight)
        ours.output.bias.copy_(theirs.out_proj.bias)


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_equals_torchs(dtype, atol, masked):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, size, 4, dtype=dtype, generator=generator) for size in (5, 7, 7))
    mask = torch.rand(2, 1, 5, 7, generator=generator) > 0.4 if masked else None
    if mask is not None:
        mask[0, 0, 2] = False  # a query that may attend to nothing
    want = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(attention(q, k, v, mask), want, atol=atol, rtol=0)


def test_a_fully_masked_query_gets_zeros_and_a_finite_gradient():
    q, k, v = (torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    mask = torch.tensor([[True, True, False], [False] * 3, [True] * 3])
    result = attention(q, k, v, mask)
    assert (result[0, 1] == 0).all()
    result.sum().backward()
    assert all(torch.isfinite(x.grad).all() for x in (q, k, v))
    assert (q.grad[0, 1] == 0).all()


def test_gradients_pass_gradcheck():
    generator = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(2, size, 3, dtype=torch.float64, generator=generator).requires_grad_() for size in (3, 4, 4))
    mask = torch.from_numpy(causal_mask(3, 4))
    assert torch.autograd.gradcheck(lambda *tensors: attention(*tensors, mask), (q, k, v))


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_multi_head_equals_torchs_layer_for_self_and_cross_attention(heads, dtype, atol):
    torch.manual_seed(heads)
    theirs = nn.MultiheadAttention(8, heads, batch_first=True, dtype=dtype)
    nn.init.normal_(theirs.in_proj_bias)
    ours = MultiHeadAttention(8, heads).to(dtype)
    with_torch_weights(ours, theirs)
    x, context = torch.randn(3, 5, 8, dtype=dtype), torch.randn(3, 6, 8, dtype=dtype)
    mask = torch.from_numpy(causal_mask(5, 6))
    want_self, _ = theirs(x, x, x, attn_mask=~mask[:, :5], need_weights=False)
    want_cross, _ = theirs(x, context, context, attn_mask=~mask, need_weights=False)
    torch.testing.assert_close(ours(x, mask=mask[:, :5]), want_self, atol=atol, rtol=0)
    torch.testing.assert_close(ours(x, context, mask), want_cross, atol=atol, rtol=0)


def test_splitting_heads_and_joining_them_is_the_identity():
    x = torch.randn(2, 5, 12)
    assert split_heads(x, 3).shape == (2, 3, 5, 4)
    torch.testing.assert_close(join_heads(split_heads(x, 3)), x, atol=0, rtol=0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MultiHeadAttention(8, 3), "3 heads do not divide 8"),
        (lambda: MultiHeadAttention(8, 2)(torch.ones(2, 5, 7)), "2×5×7"),
        (lambda: MultiHeadAttention(8, 2)(torch.ones(2, 0, 8)), "2×0×8"),
        (lambda: MultiHeadAttention(8, 2)(torch.full((1, 2, 8), float("nan"))), "NaN"),
        (lambda: MultiHeadAttention(8, 2)(torch.ones(2, 5, 8), torch.ones(3, 5, 8)), "2×5×8.*3×5×8"),
        (lambda: attention(torch.ones(2, 3), torch.ones(2, 4), torch.ones(2, 4)), "2×3.*2×4"),
        (lambda: attention(torch.ones(2, 3), torch.ones(0, 3), torch.ones(0, 3)), "0×3"),
    ],
)
def test_bad_input_is_refused_with_its_shape(call, words):
    with pytest.raises(ValueError, match=words):
        call()
