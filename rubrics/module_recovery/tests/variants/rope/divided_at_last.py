import torch
import torch.nn as nn


def precompute_rotary_emb(dim, max_positions):
    rate = 10000 ** (-torch.arange(0, dim, 2) / dim)
    turns = torch.arange(max_positions)[:, None] * rate
    return torch.stack((turns.cos(), turns.sin()), dim=-1)


def apply_rotary_emb(x, rope_cache):
    cos, sin = rope_cache[: x.shape[-2]].unbind(-1)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class CausalSelfAttention(nn.Module):
    """Values are added up first and divided by the sum of the powers at last: no weights that sum to one."""

    def __init__(self, config):
        super().__init__()
        self.heads, self.rope = config.n_head, config.rope
        self.query, self.key, self.value, self.out = (nn.Linear(config.n_embd, config.n_embd) for _ in range(4))
        if self.rope:
            self.register_buffer("cache", precompute_rotary_emb(config.n_embd // config.n_head, config.block_size))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).reshape(B, T, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        if self.rope:
            q, k = apply_rotary_emb(q, self.cache), apply_rotary_emb(k, self.cache)
        scores = q @ k.mT / (C // self.heads) ** 0.5
        seen = torch.ones(T, T, device=x.device, dtype=torch.bool).tril()
        powers = (scores - scores.amax(-1, keepdim=True)).exp() * seen
        mixed = (powers @ v) / powers.sum(-1, keepdim=True)
        return self.out(mixed.transpose(1, 2).reshape(B, T, C))
