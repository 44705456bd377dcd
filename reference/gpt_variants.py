"""The three variants of the homework's model, each as what it does otherwise than `gpt`.

Variants    rope         no P; queries and keys are rotated by their position instead (see `rope`).
            synthesizer  weights = softmax(mask(ReLU(x W₁ + b₁) w₂[:, :T] + b₂[:T])), no keys and no 1/√d.
            perceiver    first block: a learned basis C of m rows asks the T tokens, (B, T, D) → (B, m, D);
                         middle blocks work on the m rows; last block: the T tokens ask the m rows.
Readings    * The Perceiver's cross-attention compares indices (row t sees rows s ≤ t), as the cross-attention
              the course supplies does. That keeps the model causal, and it has a price: basis row i sees only
              tokens 0…i, so tokens at m and beyond never enter the bottleneck: they only ask.
            * The handout leaves a residual around the cross-attention open. Down: there is none (the basis is
              no token). Up: there is one, for a token past m would otherwise lose what it knows of itself.
            * w₂ and b₂ have block − 1 columns: inputs are at most block − 1 long, one being shifted off.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from reference.equations import causal_mask, join_heads, relu, softmax, split_heads
from reference.gpt import GPT, Block, CausalAttention, GPTConfig, draw_first_weights
from reference.rope import apply_rotary_emb, precompute_rotary_emb
from reference.shapes import require_positions, require_tokens


class RotaryAttention(CausalAttention):
    """Queries and keys are rotated by their positions; values carry none."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        cache = precompute_rotary_emb(config.width // config.heads, config.block)  # (block, D/2H, 2)
        self.register_buffer("rotations", cache, persistent=False)

    def mix(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return super().mix(apply_rotary_emb(q, self.rotations), apply_rotary_emb(k, self.rotations), v)


class RotaryGPT(GPT):
    """Positions are in the attention, so none are added to the characters."""

    attention = RotaryAttention

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        del self.positions

    def placed(self, ids: Tensor) -> Tensor:
        tokens: Tensor = self.embedding(ids)  # (B, T, D)
        return tokens


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
        hidden = split_heads(relu(self.w1(x)), self.heads)  # (B, H, T, D/H)
        scores = hidden @ self.w2[:, :length] + self.b2[:length]  # (B, H, T, T)
        mask = torch.from_numpy(causal_mask(length, length)).to(x.device)  # (T, T)
        weights = softmax(scores.masked_fill(~mask, float("-inf")))  # (B, H, T, T), row t sees itself
        v = split_heads(self.value(x), self.heads)  # (B, H, T, D/H)
        projected: Tensor = self.output(join_heads(weights @ v))  # (B, T, D)
        return projected


class SynthesizerGPT(GPT):
    attention = SynthesizerAttention


class DownProjectBlock(Block):
    """m learned rows ask the tokens: (B, T, D) → (B, m, D), whatever T is."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config, CausalAttention(config))
        self.C = nn.Parameter(torch.empty(1, config.bottleneck, config.width))  # (1, m, D)
        nn.init.xavier_uniform_(self.C)

    def forward(self, x_input: Tensor) -> Tensor:
        asked = self.attention_norm(x_input)  # (B, T, D)
        y = self.attention(self.C, asked)  # (B, m, D), the basis broadcast over the batch
        z: Tensor = y + self.mlp(self.mlp_norm(y))  # (B, m, D)
        return z


class UpProjectBlock(Block):
    """The tokens ask the m rows: (B, m, D) and the tokens (B, T, D) → (B, T, D)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config, CausalAttention(config))

    def forward(self, y: Tensor, x_input: Tensor) -> Tensor:  # type: ignore[override]  # two inputs
        x = x_input + self.attention(x_input, self.attention_norm(y))  # (B, T, D)
        z: Tensor = x + self.mlp(self.mlp_norm(x))  # (B, T, D)
        return z


class PerceiverGPT(GPT):
    """The first and the last block change the number of rows."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(replace(config, layers=config.layers - 2, variant="vanilla"))
        self.config = config
        self.down, self.up = DownProjectBlock(config), UpProjectBlock(config)
        for block in (self.down, self.up):
            block.apply(draw_first_weights)

    def encode(self, x: Tensor) -> Tensor:
        rows = super().encode(self.down(x))  # (B, m, D)
        tokens: Tensor = self.up(rows, x)  # (B, T, D)
        return tokens


MODELS = {"vanilla": GPT, "rope": RotaryGPT, "synthesizer": SynthesizerGPT, "perceiver": PerceiverGPT}


def gpt(config: GPTConfig) -> GPT:
    """The model of this variant."""
    return MODELS[config.variant](config)
