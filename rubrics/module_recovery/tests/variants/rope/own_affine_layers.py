import torch
from torch import nn


def precompute_rotary_emb(dim, max_positions):
    steps = torch.outer(torch.arange(max_positions).float(), 10000.0 ** (-torch.arange(dim // 2) * 2.0 / dim))
    return torch.stack([steps.cos(), steps.sin()], -1)


def apply_rotary_emb(x, rope_cache):
    turns = torch.view_as_complex(rope_cache[: x.shape[2]].to(x).contiguous())
    points = torch.view_as_complex(x.reshape(*x.shape[:3], -1, 2))
    return torch.view_as_real(points * turns).reshape(x.shape)


class Map(nn.Module):
    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.W = nn.Parameter(torch.randn(fan_in, fan_out) / fan_in ** 0.5)
        self.b = nn.Parameter(torch.zeros(fan_out))

    def forward(self, x):
        return x @ self.W + self.b


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.n_embd
        self.heads, self.rope = config.n_head, config.rope
        self.query, self.key, self.value, self.proj = Map(d, d), Map(d, d), Map(d, d), Map(d, d)
        if self.rope:
            self.register_buffer("rope_cache", precompute_rotary_emb(d // self.heads, config.block_size))

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        if self.rope:
            q, k = apply_rotary_emb(q, self.rope_cache), apply_rotary_emb(k, self.rope_cache)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, D))
