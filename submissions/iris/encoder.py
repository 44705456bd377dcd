"""Attention among channels: the scores are d x d instead of N x N."""
import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = heads
        self.wq = nn.Linear(dim, dim)
        self.wk = nn.Linear(dim, dim)
        self.wv = nn.Linear(dim, dim)
        self.wo = nn.Linear(dim, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.ffn = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))

    def forward(self, x):
        B, N, D = x.shape
        q, k, v = (w(x).view(B, N, self.heads, -1).permute(0, 2, 3, 1) for w in (self.wq, self.wk, self.wv))
        scores = q @ k.transpose(-1, -2) / (D / self.heads) ** 0.5
        out = torch.softmax(scores, dim=-1) @ v
        x = self.norm1(x + self.wo(out.permute(0, 3, 1, 2).reshape(B, N, D)))
        return self.norm2(x + self.ffn(x))
