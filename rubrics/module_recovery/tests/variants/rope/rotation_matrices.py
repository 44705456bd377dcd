import math

import torch
import torch.nn as nn


def precompute_rotary_emb(dim, max_positions):
    """Loops, and lists of numbers."""
    cache = []
    for t in range(max_positions):
        row = []
        for i in range(1, dim // 2 + 1):
            theta = 10000 ** (-2 * (i - 1) / dim)
            row.append([math.cos(t * theta), math.sin(t * theta)])
        cache.append(row)
    return torch.tensor(cache)


def apply_rotary_emb(x, rope_cache):
    """Multiplies by 2×2 matrices, which only works in the cache's own precision."""
    c, s = rope_cache[: x.size(2), :, 0], rope_cache[: x.size(2), :, 1]
    turns = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
    pairs = x.unflatten(-1, (-1, 2)).unsqueeze(-1)
    return (turns @ pairs).squeeze(-1).flatten(-2)


class Head(nn.Module):
    def __init__(self, config, size):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(config.n_embd, size) for _ in range(3))
        self.rope = config.rope
        if self.rope:
            self.register_buffer("cache", precompute_rotary_emb(size, config.block_size))

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if self.rope:
            q = apply_rotary_emb(q.unsqueeze(1), self.cache).squeeze(1)
            k = apply_rotary_emb(k.unsqueeze(1), self.cache).squeeze(1)
        s = q @ k.transpose(1, 2) / math.sqrt(k.size(-1))
        s = s.masked_fill(torch.tril(torch.ones_like(s)) == 0, -1e9)
        return torch.softmax(s, dim=-1) @ v


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = nn.ModuleList(Head(config, config.n_embd // config.n_head) for _ in range(config.n_head))
        self.proj = nn.Linear(config.n_embd, config.n_embd)

    def forward(self, x, layer_past=None):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))
