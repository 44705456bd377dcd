"""The character-level causal model of `nlp-a5`, part 2, and its three variants.

Equation    logits = W · LN(block_L(… block_1(E[ids] + P[0…T−1]))),  block pre-norm with GELU, width 4D inside
Convention  ids is (B, T) of integers below `vocabulary`, T ≤ `block`; logits are (B, T, vocabulary), and
            logits[:, t] depends on ids[:, :t+1] only. Targets equal to PAD (0) do not count in the loss.
Variants    vanilla      as above.
            rope         no P; queries and keys are rotated by their position instead (see `rope`).
            synthesizer  weights = softmax(mask(ReLU(x W₁ + b₁) w₂[:, :T] + b₂[:T])), no keys and no 1/√d.
            perceiver    first block: a learned basis C of m rows asks the T tokens, (B, T, D) → (B, m, D);
                         middle blocks work on the m rows; last block: the T tokens ask the m rows.
Readings    * The Perceiver's cross-attention compares indices (row t sees rows s ≤ t), as the cross-attention
              the course supplies does. That keeps the model causal, and it has a price: basis row i sees only
              tokens 0…i, so tokens at m and beyond never enter the bottleneck: they only ask.
            * The handout leaves a residual around the cross-attention open. Down: there is none (the basis is
              no token). Up: there is one, for a token past m would otherwise lose what it knows of itself.
            * The first weights are N(0, 1/fan-in), not GPT-2's N(0, 0.02²): see `draw_first_weights`.
            * w₂ and b₂ have block − 1 columns: inputs are at most block − 1 long, one being shifted off.
            * Dropout is left out, so equal seeds give equal runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reference.rope import apply_rotary_emb, precompute_rotary_emb
from reference.shapes import (
    require,
    require_even_heads,
    require_ids,
    require_one_of,
    require_positions,
    require_tokens,
    shape_text,
)
from reference.torch_attention import MultiHeadAttention, causal_mask, join_heads, split_heads
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


class CausalAttention(MultiHeadAttention):
    """Row t attends to rows 0…t, of its own or another sequence; with RoPE, q and k are rotated first."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config.width, config.heads)
        self.rotates = config.variant == "rope"
        if self.rotates:
            cache = precompute_rotary_emb(config.width // config.heads, config.block)  # (block, D/2H, 2)
            self.register_buffer("rotations", cache, persistent=False)

    def forward(self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        keys = x if context is None else context  # (B, S, D)
        return super().forward(x, context, causal_mask(x.shape[1], keys.shape[1], x.device))  # (B, T, D)

    def place(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        if not self.rotates:
            return q, k
        return apply_rotary_emb(q, self.rotations), apply_rotary_emb(k, self.rotations)  # 2 × (B, H, T, D/H)


class SynthesizerAttention(nn.Module):
    """Each token proposes its own weights over positions; no token looks at another's key."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.w1 = nn.Linear(config.width, config.width)
        self.w2 = nn.Parameter(torch.empty(config.width // config.heads, config.block - 1))  # (D/H, block − 1)
        self.b2 = nn.Parameter(torch.zeros(config.block - 1))  # (block − 1,)
        self.value = nn.Linear(config.width, config.width)
        self.output = nn.Linear(config.width, config.width)
        nn.init.uniform_(self.w2, -0.001, 0.001)  # nearly equal weights to begin with

    def forward(self, x: Tensor) -> Tensor:
        require_tokens(x, self.w1.in_features)
        require_positions(x, len(self.b2))
        length = x.shape[1]
        hidden = split_heads(F.relu(self.w1(x)), self.heads)  # (B, H, T, D/H)
        scores = hidden @ self.w2[:, :length] + self.b2[:length]  # (B, H, T, T)
        future = ~causal_mask(length, length, x.device)  # (T, T)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)  # (B, H, T, T), row t sees itself
        v = split_heads(self.value(x), self.heads)  # (B, H, T, D/H)
        projected: Tensor = self.output(join_heads(weights @ v))  # (B, T, D)
        return projected


class Block(nn.Module):
    """Pre-norm: x + Attn(LN x), then y + MLP(LN y)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        synthesizes = config.variant == "synthesizer"
        self.attention = SynthesizerAttention(config) if synthesizes else CausalAttention(config)
        self.attention_norm = LayerNorm(config.width)
        self.mlp = FeedForward(config.width, 4 * config.width, "gelu")
        self.mlp_norm = LayerNorm(config.width)

    def forward(self, x: Tensor) -> Tensor:
        y = x + self.attention(self.attention_norm(x))  # (B, T, D)
        z: Tensor = y + self.mlp(self.mlp_norm(y))  # (B, T, D)
        return z


class DownProjectBlock(nn.Module):
    """m learned rows ask the tokens: (B, T, D) → (B, m, D), whatever T is."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.C = nn.Parameter(torch.empty(1, config.bottleneck, config.width))  # (1, m, D)
        nn.init.xavier_uniform_(self.C)
        self.attention = CausalAttention(config)
        self.attention_norm = LayerNorm(config.width)
        self.mlp = FeedForward(config.width, 4 * config.width, "gelu")
        self.mlp_norm = LayerNorm(config.width)

    def forward(self, x_input: Tensor) -> Tensor:
        asked = self.attention_norm(x_input)  # (B, T, D)
        y = self.attention(self.C, asked)  # (B, m, D), the basis broadcast over the batch
        z: Tensor = y + self.mlp(self.mlp_norm(y))  # (B, m, D)
        return z


class UpProjectBlock(nn.Module):
    """The tokens ask the m rows: (B, m, D) and the tokens (B, T, D) → (B, T, D)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.attention = CausalAttention(config)
        self.attention_norm = LayerNorm(config.width)
        self.mlp = FeedForward(config.width, 4 * config.width, "gelu")
        self.mlp_norm = LayerNorm(config.width)

    def forward(self, y: Tensor, x_input: Tensor) -> Tensor:
        x = x_input + self.attention(x_input, self.attention_norm(y))  # (B, T, D)
        z: Tensor = x + self.mlp(self.mlp_norm(x))  # (B, T, D)
        return z


class GPT(nn.Module):
    """ids (B, T) → logits (B, T, vocabulary)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        if config.variant != "rope":
            self.positions = nn.Parameter(torch.randn(config.block, config.width) * config.width**-0.5)  # (block, D)
        bottled = config.variant == "perceiver"
        self.down = DownProjectBlock(config) if bottled else None
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers - 2 * bottled))
        self.up = UpProjectBlock(config) if bottled else None
        self.last_norm = LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.apply(draw_first_weights)

    def forward(self, ids: Tensor) -> Tensor:
        require_ids(ids, self.config.longest, self.config.vocabulary)
        tokens = self.embedding(ids)  # (B, T, D)
        if self.config.variant != "rope":
            tokens = tokens + self.positions[: ids.shape[1]]  # (B, T, D)
        x = self.down(tokens) if self.down else tokens  # (B, m, D) or (B, T, D)
        for block in self.blocks:
            x = block(x)  # (B, m, D) or (B, T, D)
        if self.up:
            x = self.up(x, tokens)  # (B, T, D)
        logits: Tensor = self.head(self.last_norm(x))  # (B, T, vocabulary)
        return logits

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
