"""Causal attention, with rotary position embeddings if the configuration asks for them."""
from math import sqrt

import torch
from torch import Tensor, nn


def precompute_rotary_emb(dim: int, max_positions: int) -> Tensor:
    """(max_positions, dim/2, 2): cosine and sine of t·θ_i, θ_i = 10000^(-2(i-1)/dim).

    The comment in the starter code has no minus sign in the exponent; the paper has.
    """
    theta = 10000.0 ** (-2 * torch.arange(dim // 2) / dim)
    angle = torch.arange(max_positions)[:, None] * theta
    return torch.stack((angle.cos(), angle.sin()), dim=-1)


def apply_rotary_emb(x: Tensor, rope_cache: Tensor) -> Tensor:
    """Turn each pair of neighbouring features of x (B, heads, T, dim) by its angle, as complex numbers."""
    turn = torch.view_as_complex(rope_cache[:x.size(-2)].to(x.dtype).contiguous())
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2)


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.n_head
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.attn_drop = nn.Dropout(config.attn_pdrop)
        self.resid_drop = nn.Dropout(config.resid_pdrop)
        self.register_buffer("future", torch.ones(config.block_size, config.block_size).triu(1).bool())
        self.rope = config.rope
        if self.rope:
            cache = precompute_rotary_emb(config.n_embd // config.n_head, config.block_size)
            self.register_buffer("rope_cache", cache)

    def forward(self, x: Tensor) -> Tensor:
        T = x.size(1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        if self.rope:
            q, k = apply_rotary_emb(q, self.rope_cache), apply_rotary_emb(k, self.rope_cache)
        scores = torch.einsum("bhtd,bhsd->bhts", q, k) / sqrt(q.size(-1))
        weights = self.attn_drop(scores.masked_fill(self.future[:T, :T], float("-inf")).softmax(-1))
        mixed = torch.einsum("bhts,bhsd->bthd", weights, v).flatten(2)
        return self.resid_drop(self.proj(mixed))
