import torch
import torch.nn as nn


def precompute_rotary_emb(dim, max_positions):
    theta = 10000 ** (-torch.arange(0, dim, 2) / dim)
    angles = torch.arange(max_positions)[:, None] * theta
    return torch.stack((angles.cos(), angles.sin()), dim=-1)


def apply_rotary_emb(x, rope_cache):
    cos, sin = rope_cache[: x.shape[-2]].unbind(-1)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class CausalSelfAttention(nn.Module):
    """Queries and keys are rotated in one call, as two halves of a larger batch."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.n_head
        self.both = nn.Linear(config.n_embd, 2 * config.n_embd)
        self.value, self.out = nn.Linear(config.n_embd, config.n_embd), nn.Linear(config.n_embd, config.n_embd)
        self.rope = config.rope
        if self.rope:
            self.register_buffer("cache", precompute_rotary_emb(config.n_embd // config.n_head, config.block_size))

    def forward(self, x):
        B, T, C = x.shape
        both = self.both(x).reshape(B, T, 2, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        if self.rope:
            both = apply_rotary_emb(both.reshape(2 * B, self.heads, T, -1), self.cache).reshape(both.shape)
        q, k = both.unbind(0)
        v = self.value(x).reshape(B, T, self.heads, -1).transpose(1, 2)
        later = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        weights = (q @ k.mT / (C // self.heads) ** 0.5).masked_fill(later, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, C))
