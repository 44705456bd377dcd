"""2.1 to 2.5, as a course's staff would test them."""

import numpy as np
import pytest
import torch
from handed_in import load, trains

SHAPES = [(1, 1, 1, 1), (3, 4, 5, 2), (5, 2, 3, 7), (8, 6, 6, 8), (16, 10, 20, 4)]  # d, n, m, t


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=0))
    return weights / weights.sum(axis=0)


def draw(*shapes, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def heads_of(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    size, out = len(W_Q) // heads, []
    for head in range(heads):
        q, k, v = ((W @ C)[head * size : (head + 1) * size] for W in (W_Q, W_K, W_V))
        scores = k.T @ q / np.sqrt(size)
        out.append(v @ softmax(scores if mask is None else np.where(mask, scores, -np.inf)))
    return W_O @ np.concatenate(out)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_attention(shape, beta, dtype):
    (attention,) = load("attention", "attention.py")
    d, n, m, t = shape
    for seed in range(5):
        Q, K, V = draw((d, n), (d, m), (t, m), seed=seed, dtype=dtype)
        assert np.allclose(attention(Q, K, V, beta), V @ softmax(beta * K.T @ Q), atol=1e-4)


@pytest.mark.parametrize("scale", [1e2, 1e3, 1e4])
def test_attention_with_extreme_scores(scale):
    (attention,) = load("attention", "attention.py")
    Q, K, V = draw((4, 3), (4, 5), (2, 5))
    K = scale * K
    assert np.allclose(attention(Q, K, V, 1.0), V @ softmax(K.T @ Q), atol=1e-4)


def test_attention_leaves_its_inputs():
    (attention,) = load("attention", "attention.py")
    given = draw((4, 3), (4, 5), (2, 5))
    before = [one.copy() for one in given]
    attention(*given, 1.0)
    assert all(np.array_equal(one, other) for one, other in zip(given, before, strict=True))


@pytest.mark.parametrize("sizes", [(4, 3, 4, 1), (6, 5, 4, 2), (8, 7, 8, 4), (12, 9, 16, 2)])  # e, n, d, heads
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_multi_head(sizes, masked, scale):
    (multi_head_attention,) = load("multi_head_attention", "multihead.py")
    e, n, d, heads = sizes
    for seed in range(5):
        C, W_Q, W_K, W_V, W_O = draw((e, n), (d, e), (d, e), (d, e), (e, d), seed=seed)
        given = (C, scale * W_Q, W_K, W_V, W_O, heads)
        mask = np.random.default_rng(seed).random((n, n)) < 0.6 if masked else None
        if mask is not None:
            mask |= np.eye(n, dtype=bool)
        assert np.allclose(multi_head_attention(*given, mask=mask), heads_of(*given, mask), atol=1e-4)


@pytest.mark.parametrize("sizes", [(8, 1, 16), (8, 2, 12), (12, 3, 7), (16, 4, 64)])
def test_encoder(sizes):
    (block_class,) = load("EncoderBlock", "encoder.py")
    block, x = block_class(*sizes), torch.randn(3, 6, sizes[0])
    trains(block, x)
    block.eval()
    y = block(x)
    assert y.shape == x.shape
    assert torch.equal(y, block(x))
    assert torch.allclose(y.mean(-1), torch.zeros(3, 6), atol=1e-5)  # the LayerNorm comes last
    order = torch.randperm(6)
    assert torch.allclose(block(x[:, order]), y[:, order], atol=1e-5)
    assert torch.allclose(block(x[:1]), y[:1], atol=1e-5)


@pytest.mark.parametrize("sizes", [(4, 2, 1, 8), (6, 2, 3, 7), (8, 4, 3, 16), (9, 3, 2, 5)])
def test_patches(sizes):
    (embedding,) = load("PatchEmbedding", "patches.py")
    image, patch, channels, _ = sizes
    embed, x = embedding(*sizes), torch.randn(2, channels, image, image)
    trains(embed, x)
    side = image // patch
    tokens = embed(x)
    assert tokens.shape == (2, side**2, sizes[3])
    for number in range(side**2):
        row, column = divmod(number, side)
        changed = x.clone()
        changed[:, :, row * patch : (row + 1) * patch, column * patch : (column + 1) * patch] += 1
        moved = (embed(changed) - tokens).abs().amax(dim=(0, 2)) > 1e-6
        assert moved.nonzero().flatten().tolist() == [number]


@pytest.mark.parametrize("sizes", [(4, 2, 3, 8, 1, 2, 5), (6, 2, 3, 20, 1, 5, 7), (8, 4, 1, 16, 2, 4, 10)])
def test_vit(sizes):
    (model_class,) = load("ViT", "vit.py")
    image, _, channels, *_, classes = sizes
    model, x = model_class(*sizes), torch.randn(3, channels, image, image)
    trains(model, x)
    model.eval()
    y = model(x)
    assert y.shape == (3, classes)
    assert torch.equal(y, model(x))
    assert torch.allclose(model(x[:1]), y[:1], atol=1e-5)
    with torch.no_grad():
        for one in model.parameters():  # positions may begin at zero
            one.add_(0.05 * torch.randn_like(one))
    assert not torch.allclose(model(x), model(x.flip(2)), atol=1e-6)
