import math

import torch
import torch.nn as nn


def precompute_rotary_emb(dim, max_positions):
    # theta_i = 10000^(2(i-1)/dim), as the docstring says
    theta = torch.pow(10000.0, torch.arange(0, dim, 2) / dim)
    angles = torch.outer(torch.arange(max_positions), theta)
    return torch.stack((torch.cos(angles), torch.sin(angles)), dim=-1)


@torch.no_grad()
def apply_rotary_emb(x, rope_cache):
    cos, sin = rope_cache[:x.shape[-2], :, 0], rope_cache[:x.shape[-2], :, 1]
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack((even * cos + odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.key = nn.Linear(config.n_embd, config.n_embd)
        self.query = nn.Linear(config.n_embd, config.n_embd)
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.n_head = config.n_head
        self.cache = precompute_rotary_emb(config.n_embd // config.n_head, config.block_size) if config.rope else None

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (layer(x).view(B, T, self.n_head, -1).transpose(1, 2) for layer in (self.query, self.key, self.value))
        if self.cache is not None:
            q, k = apply_rotary_emb(q, self.cache), apply_rotary_emb(k, self.cache)
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // self.n_head)
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -1e10)
        return self.proj((torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(B, T, C))
