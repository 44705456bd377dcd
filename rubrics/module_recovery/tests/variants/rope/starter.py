import math

import torch
import torch.nn as nn
from torch.nn import functional as F


def precompute_rotary_emb(dim, max_positions):
    theta = 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim))
    t = torch.arange(max_positions).float()
    angles = torch.outer(t, theta)
    rope_cache = torch.stack([torch.cos(angles), torch.sin(angles)], dim=-1)
    return rope_cache


def apply_rotary_emb(x, rope_cache):
    T = x.size(2)
    cache = rope_cache[:T]
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    cos = cache[..., 0]
    sin = cache[..., 1]
    first = pairs[..., 0] * cos - pairs[..., 1] * sin
    second = pairs[..., 0] * sin + pairs[..., 1] * cos
    rotated_x = torch.stack([first, second], dim=-1).flatten(-2)
    return rotated_x


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.key = nn.Linear(config.n_embd, config.n_embd)
        self.query = nn.Linear(config.n_embd, config.n_embd)
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.rope = config.rope
        if self.rope:
            rope_cache = precompute_rotary_emb(config.n_embd // config.n_head, config.block_size)
            self.register_buffer("rope_cache", rope_cache)
        self.attn_drop = nn.Dropout(config.attn_pdrop)
        self.resid_drop = nn.Dropout(config.resid_pdrop)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.register_buffer("mask", torch.tril(torch.ones(config.block_size, config.block_size))
                             .view(1, 1, config.block_size, config.block_size))
        self.n_head = config.n_head

    def forward(self, x):
        B, T, C = x.size()
        k = self.key(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.query(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        if self.rope:
            q = apply_rotary_emb(q, self.rope_cache)
            k = apply_rotary_emb(k, self.rope_cache)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, -1e10)
        att = F.softmax(att, dim=-1)
        att = self.attn_drop(att)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_drop(self.proj(y))
