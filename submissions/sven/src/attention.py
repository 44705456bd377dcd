import math

import torch
import torch.nn as nn
from torch.nn import functional as F


def causal_mask(size):
    return torch.tril(torch.ones(size, size)).view(1, 1, size, size)


class CausalSelfAttention(nn.Module):
    """Multi-head attention in which a token sees itself and what came before it."""

    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.n_head = config.n_head
        self.key = nn.Linear(config.n_embd, config.n_embd)
        self.query = nn.Linear(config.n_embd, config.n_embd)
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.attn_drop = nn.Dropout(config.attn_pdrop)
        self.resid_drop = nn.Dropout(config.resid_pdrop)
        self.register_buffer("mask", causal_mask(config.block_size))

    def forward(self, x):
        B, T, C = x.size()

        def heads(t):
            return t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, nh, T, hs)

        q, k, v = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        att = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_drop(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_drop(self.proj(y))


class SynthesizerAttention(nn.Module):
    """Attention weights made from each token alone: no query meets a key."""

    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.n_head = config.n_head
        head_size = config.n_embd // config.n_head
        self.w1 = nn.Linear(config.n_embd, config.n_embd)  # all heads at once, with b1
        self.w2 = nn.Parameter(torch.empty(head_size, config.block_size - 1).uniform_(-0.001, 0.001))
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.attn_drop = nn.Dropout(config.attn_pdrop)
        self.resid_drop = nn.Dropout(config.resid_pdrop)
        self.register_buffer("mask", causal_mask(config.block_size))

    def forward(self, x):
        B, T, C = x.size()
        hs = C // self.n_head
        hidden = F.relu(self.w1(x)).view(B, T, self.n_head, hs).transpose(1, 2)  # (B, nh, T, hs)
        v = self.value(x).view(B, T, self.n_head, hs).transpose(1, 2)
        att = hidden @ self.w2[:, :T] + self.b2[:T]  # (B, nh, T, T), and no 1/sqrt(hs)
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_drop(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_drop(self.proj(y))
