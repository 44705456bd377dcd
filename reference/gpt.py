"""The character-level causal model of `nlp-a5`, part 2, whole; `gpt_variants` has its three variants as differences.

Equation    logits = W · LN(block_L(… block_1(E[ids] + P[0…T−1]))),  block pre-norm with GELU, width 4D inside:
            y = x + Attn(LN(x)), z = y + MLP(LN(y))
Convention  ids is (B, T) of integers below `vocabulary`, T ≤ `block`; logits are (B, T, vocabulary), and
            logits[:, t] depends on ids[:, :t+1] only. Targets equal to PAD (0) do not count in the loss.
Readings    * The first weights are N(0, 1/fan-in), not GPT-2's N(0, 0.02²): see `draw_first_weights`.
            * Dropout is left out, so equal seeds give equal runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reference.equations import attention, causal_mask, join_heads, split_heads
from reference.shapes import (
    require,
    require_even_heads,
    require_ids,
    require_one_of,
    require_same_batch,
    require_tokens,
    shape_text,
)
from reference.transformer import FeedForward, LayerNorm

Variant = Literal["vanilla", "perceiver", "synthesizer", "rope"]
PAD = 0  # the id of □, which stands behind the end of every shorter text


@dataclass(frozen=True)
class GPTConfig:
    """The homework's model by default; `bottleneck` matters to the Perceiver only."""

    vocabulary: int
    block: int = 128
    layers: int = 4
    heads: int = 8
    width: int = 256
    variant: Variant = "vanilla"
    bottleneck: int = 32

    def __post_init__(self) -> None:
        require_one_of("variant", self.variant, get_args(Variant))
        require_even_heads(self.heads, self.width)
        enough = self.variant != "perceiver" or self.layers >= 2
        require(enough, f"a Perceiver needs a block down and a block up, {self.layers} layers are too few")

    @property
    def longest(self) -> int:
        """How many ids fit: the block, or what w₂ has columns for."""
        return self.block - (self.variant == "synthesizer")


class CausalAttention(nn.Module):
    """Row t attends to rows 0…t: of its own sequence, or of `context`, from which keys and values then come."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(config.width, config.width)
        self.value = nn.Linear(config.width, config.width)
        self.output = nn.Linear(config.width, config.width)

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        context = x if context is None else context  # (B, S, D)
        for tokens in (x, context):
            require_tokens(tokens, self.query.in_features)
        require_same_batch(x, context)
        q = split_heads(self.query(x), self.heads)  # (B, H, T, D/H)
        k = split_heads(self.key(context), self.heads)  # (B, H, S, D/H)
        v = split_heads(self.value(context), self.heads)  # (B, H, S, D/H)
        projected: Tensor = self.output(join_heads(self.mix(q, k, v)))  # (B, T, D)
        return projected

    def mix(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """softmax(qkᵀ/√(D/H) + mask)v in each head."""
        mask = torch.from_numpy(causal_mask(q.shape[-2], k.shape[-2])).to(q.device)  # (T, S)
        mixed: Tensor = attention(q, k, v, mask)  # (B, H, T, D/H)
        return mixed


class Block(nn.Module):
    """Pre-norm: x + Attn(LN x), then y + MLP(LN y)."""

    def __init__(self, config: GPTConfig, attention: nn.Module) -> None:
        super().__init__()
        self.attention = attention
        self.attention_norm = LayerNorm(config.width)
        self.mlp = FeedForward(config.width, 4 * config.width, "gelu")
        self.mlp_norm = LayerNorm(config.width)

    def forward(self, x: Tensor) -> Tensor:
        y = x + self.attention(self.attention_norm(x))  # (B, T, D)
        z: Tensor = y + self.mlp(self.mlp_norm(y))  # (B, T, D)
        return z


class GPT(nn.Module):
    """ids (B, T) → logits (B, T, vocabulary). Variants give it another attention, no positions, or other tokens."""

    attention: type[nn.Module] = CausalAttention

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Parameter(torch.randn(config.block, config.width) * config.width**-0.5)  # (block, D)
        self.blocks = nn.ModuleList(Block(config, self.attention(config)) for _ in range(config.layers))
        self.last_norm = LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.apply(draw_first_weights)

    def forward(self, ids: Tensor) -> Tensor:
        require_ids(ids, self.config.longest, self.config.vocabulary)
        logits: Tensor = self.head(self.last_norm(self.encode(self.placed(ids))))  # (B, T, vocabulary)
        return logits

    def placed(self, ids: Tensor) -> Tensor:
        """Characters, with their positions added."""
        tokens: Tensor = self.embedding(ids) + self.positions[: ids.shape[1]]  # (B, T, D)
        return tokens

    def encode(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)  # (B, T, D)
        return x

    def loss(self, ids: Tensor, targets: Tensor) -> Tensor:
        """Mean cross-entropy in nats over the targets that are no padding."""
        differ = f"ids {shape_text(ids)} and targets {shape_text(targets)} differ in shape"
        require(ids.shape == targets.shape, differ)
        logits = self(ids)  # (B, T, vocabulary)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)  # scalar


def draw_first_weights(module: nn.Module) -> None:
    """N(0, 1/fan-in) for every matrix, zero for every bias.

    GPT-2's fixed 0.02 is near that at its width of 768; at 128 it makes the first scores nearly equal, and
    attention begins almost flat.
    """
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=module.in_features**-0.5)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


@torch.no_grad()
def complete_greedily(model: GPT, ids: Tensor, steps: int) -> Tensor:
    """Append the likeliest next id `steps` times: (B, T) → (B, T + steps)."""
    for _ in range(steps):
        logits = model(ids[:, -model.config.longest :])[:, -1]  # (B, vocabulary)
        likeliest = logits.argmax(dim=-1, keepdim=True)  # (B, 1)
        ids = torch.cat([ids, likeliest], dim=1)  # (B, T + 1)
    return ids
