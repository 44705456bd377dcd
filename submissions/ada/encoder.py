import math

import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.ffn = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))
        self.norm2 = nn.LayerNorm(dim)

    def forward(self, x):
        B, N, D = x.shape
        q, k, v = (t.view(B, N, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(B, N, D)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.ffn(x))
