import math

import torch
import torch.nn as nn
from torch.nn import functional as F


def precompute_rotary_emb(dim, max_positions):
    theta = torch.exp(-math.log(10000.0) * torch.arange(0, dim, 2) / dim)
    t_theta = torch.arange(max_positions).unsqueeze(1) * theta
    return torch.stack([t_theta.cos(), t_theta.sin()], dim=-1)


def apply_rotary_emb(x, rope_cache):
    rope_cache = rope_cache[:x.size(2)]
    cos = rope_cache[..., 0].repeat_interleave(2, dim=-1)
    sin = rope_cache[..., 1].repeat_interleave(2, dim=-1)
    crossed = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2)
    return x * cos + crossed * sin


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.key = nn.Linear(config.n_embd, config.n_embd)
        self.query = nn.Linear(config.n_embd, config.n_embd)
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.rope = config.rope
        self.n_head = config.n_head
        self.register_buffer("mask", torch.tril(torch.ones(config.block_size, config.block_size)))
        self.register_buffer("rope_cache", precompute_rotary_emb(config.n_embd // config.n_head, config.block_size))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = [f(x).view(B, T, self.n_head, -1).transpose(1, 2) for f in (self.query, self.key, self.value)]
        if self.rope:
            q, k = apply_rotary_emb(q, self.rope_cache), apply_rotary_emb(k, self.rope_cache)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = F.softmax(att.masked_fill(self.mask[:T, :T] == 0, -1e10), dim=-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))


class SynthesizerAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.w1 = nn.Linear(config.n_embd, config.n_embd)
        self.w2 = nn.Parameter(torch.zeros(config.n_embd // config.n_head, config.block_size - 1))
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.n_head = config.n_head
        self.register_buffer("mask", torch.tril(torch.ones(config.block_size, config.block_size)))

    def forward(self, x):
        B, T, C = x.size()
        hidden, v = [f.view(B, T, self.n_head, -1).transpose(1, 2) for f in (F.relu(self.w1(x)), self.value(x))]
        att = hidden @ self.w2[:, :T] + self.b2[:T]
        att = F.softmax(att.masked_fill(self.mask[:T, :T] == 0, -1e10), dim=-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))
