"""Patches against Conv2d and a loop, the whole ViT against torch's own parts."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from reference.vit import PatchEmbedding, ViT


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
@pytest.mark.parametrize(("image", "patch", "channels"), [(8, 2, 3), (6, 3, 1), (4, 4, 2), (3, 1, 2)])
def test_patches_are_a_convolution_with_kernel_and_stride_of_a_patch(dtype, atol, image, patch, channels):
    torch.manual_seed(0)
    embedding = PatchEmbedding(image, patch, channels, 5).to(dtype)
    images = torch.randn(2, channels, image, image, dtype=dtype)
    want = embedding.as_convolution()(images).flatten(2).mT  # (B, N, dim)
    torch.testing.assert_close(embedding(images), want, atol=atol, rtol=0)


def test_patches_come_row_by_row_and_unfold_agrees():
    embedding = PatchEmbedding(6, 2, 3, 4).double()
    images = torch.randn(2, 3, 6, 6, dtype=torch.float64)
    want = embedding.projection(F.unfold(images, 2, stride=2).mT)
    torch.testing.assert_close(embedding(images), want, atol=1e-10, rtol=0)
    images[:, :, 0:2, 2:4] += 1  # the second patch of the first row of patches
    moved = (embedding(images) - want).abs().amax(dim=(0, 2))
    assert moved.argmax() == 1
    assert (moved > 1e-9).sum() == 1


def test_vit_equals_the_same_network_built_of_torchs_parts():
    torch.manual_seed(1)
    vit = ViT(image=4, patch=2, channels=3, dim=8, depth=2, heads=2, classes=5).double()
    layer = nn.TransformerEncoderLayer(
        8, 2, 32, dropout=0.0, activation="gelu", batch_first=True, norm_first=True, dtype=torch.float64
    )
    encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8, dtype=torch.float64), enable_nested_tensor=False)
    for theirs, ours in zip(encoder.layers, vit.encoder.blocks, strict=True):
        parts = [ours.attention.query, ours.attention.key, ours.attention.value]
        with torch.no_grad():
            theirs.self_attn.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
            theirs.self_attn.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        theirs.self_attn.out_proj.load_state_dict(ours.attention.output.state_dict())
        theirs.linear1.load_state_dict(ours.feed_forward.up.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.down.state_dict())
    images = torch.randn(3, 3, 4, 4, dtype=torch.float64)
    patches = vit.patches.as_convolution()(images).flatten(2).mT
    tokens = torch.cat([vit.class_token.expand(3, 1, 8), patches], dim=1) + vit.positions.table
    torch.testing.assert_close(vit(images), vit.head(encoder(tokens)[:, 0]), atol=1e-10, rtol=0)


def test_every_parameter_is_trained_and_every_patch_matters():
    vit = ViT(4, 2, 1, 8, 1, 2, 3)
    images = torch.randn(2, 1, 4, 4, requires_grad=True)
    vit(images).square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in vit.parameters())
    assert (images.grad != 0).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PatchEmbedding(7, 2, 3, 4), "2×2.*7×7"),
        (lambda: PatchEmbedding(4, 2, 3, 4)(torch.ones(1, 3, 4, 5)), "1×3×4×5"),
        (lambda: PatchEmbedding(4, 2, 3, 4)(torch.ones(0, 3, 4, 4)), "0×3×4×4"),
        (lambda: PatchEmbedding(2, 2, 1, 4)(torch.full((1, 1, 2, 2), float("nan"))), "NaN"),
        (lambda: ViT(4, 2, 3, 8, 1, 3, 2), "3 heads"),
    ],
)
def test_bad_input_is_refused_with_its_shape(call, words):
    with pytest.raises(ValueError, match=words):
        call()
