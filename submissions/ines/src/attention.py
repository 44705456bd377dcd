import math

import torch
import torch.nn as nn
from torch.nn import functional as F


def precompute_rotary_emb(dim, max_positions):
    inv_freq = 1.0 / torch.pow(10000, torch.arange(0, dim, 2) / dim)
    freqs = torch.einsum("i,j->ij", torch.arange(max_positions).float(), inv_freq)
    return torch.stack([freqs.cos(), freqs.sin()], dim=2)


def apply_rotary_emb(x, rope_cache):
    cos, sin = rope_cache[:x.shape[2]].unbind(-1)
    x1, x2 = x[..., 0::2], x[..., 1::2]
    rotated_x = torch.empty_like(x)
    rotated_x[..., 0::2] = x1 * cos - x2 * sin
    rotated_x[..., 1::2] = x1 * sin + x2 * cos
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
            self.rope_cache = precompute_rotary_emb(config.n_embd // config.n_head, config.block_size)
        self.attn_drop = nn.Dropout(config.attn_pdrop)
        self.resid_drop = nn.Dropout(config.resid_pdrop)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.register_buffer("mask", torch.tril(torch.ones(config.block_size, config.block_size))[None, None])
        self.n_head = config.n_head

    def forward(self, x):
        B, T, C = x.size()
        k = self.key(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.query(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        if self.rope:
            apply_rotary_emb(q, self.rope_cache)
            apply_rotary_emb(k, self.rope_cache)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, -1e10)
        att = self.attn_drop(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_drop(self.proj(y))
