"""The right values, but queries and keys are never trained: the weights are detached."""
import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ffn = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))

    def forward(self, x):
        B, N, D = x.shape
        q, k, v = (f(x).view(B, N, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        weights = torch.softmax(q @ k.mT / (D / self.heads) ** 0.5, dim=-1).detach()
        x = self.norm1(x + self.out((weights @ v).transpose(1, 2).flatten(2)))
        return self.norm2(x + self.ffn(x))
