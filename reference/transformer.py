"""Transformer parts: attention, LayerNorm, the position-wise network, pre- and post-norm blocks, positions, encoder.

Equation    attention and LayerNorm as in `equations`; heads side by side, then one output projection
            FFN(x) = W₂ φ(W₁ x + b₁) + b₂, the same at every position
            post-norm (original paper)  y = LN(x + Attn(x));      z = LN(y + FFN(y))
            pre-norm (GPT-2, ViT)       y = x + Attn(LN(x));      z = y + FFN(LN(y))
Convention  tokens are rows: (B, T, D). Positions count from 0. A mask is boolean, True = may attend, and broadcasts
            to (B, H, T, S): queries are rows, keys are columns.
Readings    * torch's `nn.MultiheadAttention` reads boolean masks the other way round (True = hidden);
              `F.scaled_dot_product_attention` reads them as here.
            * φ is ReLU in the original, GELU (with the exact Φ, not the tanh fit) in GPT and ViT.
            * A stack of pre-norm blocks ends in one more LayerNorm, which a post-norm stack does not need.
            * Sinusoids: sin in the even features, cos in the odd ones, interleaved.
            * No dropout: two runs with the same weights give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from reference.equations import EPSILON, attention, gelu, join_heads, layer_norm, relu, split_heads
from reference.shapes import (
    require,
    require_even_heads,
    require_features,
    require_one_of,
    require_positions,
    require_same_batch,
    require_tokens,
)

NormOrder = Literal["pre", "post"]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": relu, "gelu": gelu}


class MultiHeadAttention(nn.Module):
    """Self-attention when given one sequence, cross-attention when the keys come from another."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        require_even_heads(heads, dim)
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Queries from x (B, T, D); keys and values from context (B, S, D), or from x if there is none."""
        require_tokens(x, self.query.in_features)
        if context is None:
            context = x  # (B, T, D)
        else:
            require_tokens(context, self.query.in_features, "context")
            require_same_batch(x, context)
        q = split_heads(self.query(x), self.heads)  # (B, H, T, D/H)
        k = split_heads(self.key(context), self.heads)  # (B, H, S, D/H)
        v = split_heads(self.value(context), self.heads)  # (B, H, S, D/H)
        projected: Tensor = self.output(join_heads(attention(q, k, v, mask)))  # (B, T, D)
        return projected


class LayerNorm(nn.Module):
    """Each token's features to mean 0 and variance 1, then a learned scale and shift."""

    def __init__(self, dim: int, epsilon: float = EPSILON) -> None:
        super().__init__()
        require(dim >= 1, f"LayerNorm needs at least one feature, not {dim}")
        self.weight = nn.Parameter(torch.ones(dim))  # (D,)
        self.bias = nn.Parameter(torch.zeros(dim))  # (D,)
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        require_features(x, len(self.weight))
        normal: Tensor = layer_norm(x, self.weight, self.bias, self.epsilon)  # (…, D)
        return normal


class FeedForward(nn.Module):
    """Two linear maps with a nonlinearity between, applied to every position alike."""

    def __init__(self, dim: int, hidden: int, activation: str = "relu") -> None:
        super().__init__()
        require_one_of("activation", activation, ACTIVATIONS)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.up(x))  # (…, hidden)
        result: Tensor = self.down(hidden)  # (…, D)
        return result


class EncoderBlock(nn.Module):
    """Attention, then the feed-forward network, each with a residual and a LayerNorm."""

    def __init__(self, dim: int, heads: int, hidden: int, norm: NormOrder = "post", activation: str = "relu") -> None:
        super().__init__()
        require_one_of("norm", norm, get_args(NormOrder))
        self.pre_norm = norm == "pre"
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, hidden, activation)
        self.attention_norm = LayerNorm(dim)
        self.feed_forward_norm = LayerNorm(dim)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.pre_norm:
            y = x + self.attention(self.attention_norm(x), mask=mask)  # (B, T, D)
            z: Tensor = y + self.feed_forward(self.feed_forward_norm(y))  # (B, T, D)
        else:
            y = self.attention_norm(x + self.attention(x, mask=mask))  # (B, T, D)
            z = self.feed_forward_norm(y + self.feed_forward(y))  # (B, T, D)
        return z


class Encoder(nn.Module):
    """`depth` blocks with weights of their own; a pre-norm stack is normalised once more at its end."""

    def __init__(
        self,
        dim: int,
        heads: int,
        hidden: int,
        depth: int,
        norm: NormOrder = "post",
        activation: str = "relu",
    ) -> None:
        super().__init__()
        blocks = [EncoderBlock(dim, heads, hidden, norm, activation) for _ in range(depth)]
        self.blocks = nn.ModuleList(blocks)
        self.last_norm = LayerNorm(dim) if norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for block in self.blocks:
            x = block(x, mask)  # (B, T, D)
        result: Tensor = self.last_norm(x)  # (B, T, D)
        return result


def sinusoidal_positions(length: int, dim: int) -> Tensor:
    """P[t, 2i] = sin(t/10000^(2i/D)), P[t, 2i+1] = cos(t/10000^(2i/D)), in float64."""
    fits = length >= 1 and dim >= 2 and dim % 2 == 0
    require(fits, f"sinusoids need at least one position and an even width, not {length}×{dim}")
    t = torch.arange(length, dtype=torch.float64)  # (T,)
    rate = 10000 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)  # (D/2,)
    angle = torch.outer(t, rate)  # (T, D/2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(start_dim=1)  # (T, D)


class LearnedPositions(nn.Module):
    """Adds a trained vector to each of at most `length` positions."""

    def __init__(self, length: int, dim: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(length, dim) * 0.02)  # (length, D); 0.02 as in GPT-2 and ViT

    def forward(self, x: Tensor) -> Tensor:
        require_tokens(x, self.table.shape[1])
        require_positions(x, len(self.table))
        return x + self.table[: x.shape[1]]  # (B, T, D)
