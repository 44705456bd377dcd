import torch
from torch import nn


def precompute_rotary_emb(dim, max_positions, base=10000):
    """cos and sin, each as wide as a head, for features paired across the halves."""
    inv = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angle = torch.arange(max_positions, dtype=torch.float64)[:, None] * inv
    angle = torch.cat([angle, angle], dim=-1)
    return angle.cos(), angle.sin()


def rotate_half(x):
    left, right = x.chunk(2, dim=-1)
    return torch.cat((-right, left), dim=-1)


def apply_rotary_emb(x, rope_cache):
    cos, sin = (part[None, None, : x.size(-2)].to(x) for part in rope_cache)
    return x * cos + rotate_half(x) * sin


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, self.size = config.n_head, config.n_embd // config.n_head
        self.W_q = nn.Parameter(torch.randn(config.n_embd, config.n_embd) / config.n_embd ** 0.5)
        self.W_k = nn.Parameter(torch.randn(config.n_embd, config.n_embd) / config.n_embd ** 0.5)
        self.W_v = nn.Parameter(torch.randn(config.n_embd, config.n_embd) / config.n_embd ** 0.5)
        self.W_o = nn.Parameter(torch.randn(config.n_embd, config.n_embd) / config.n_embd ** 0.5)
        self.rope = config.rope
        self.block = config.block_size

    def forward(self, x):
        q, k, v = (torch.einsum("btd,de->bte", x, w).unflatten(-1, (self.heads, self.size)).permute(0, 2, 1, 3)
                   for w in (self.W_q, self.W_k, self.W_v))
        if self.rope:
            cache = precompute_rotary_emb(self.size, self.block)
            q, k = apply_rotary_emb(q, cache), apply_rotary_emb(k, cache)
        s = torch.einsum("bhid,bhjd->bhij", q, k) / self.size ** 0.5
        s = s.masked_fill(torch.ones(s.shape[-2:], device=x.device).triu(1) > 0, -torch.inf)
        return torch.einsum("bhij,bhjd->bihd", s.softmax(-1), v).flatten(2) @ self.W_o
