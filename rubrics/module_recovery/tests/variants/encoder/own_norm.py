# A LayerNorm written out, torch's attention, ReLU as a maximum.
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))
        self.beta = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = ((x - mean) ** 2).mean(-1, keepdim=True)
        return self.gamma * (x - mean) / (var + 1e-6).sqrt() + self.beta


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.sublayer = nn.MultiheadAttention(dim, heads, batch_first=True, dropout=0.1)
        self.norm_a, self.norm_b = Norm(dim), Norm(dim)
        self.inner, self.outer = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        y = self.norm_a(x + self.sublayer(x, x, x, need_weights=False)[0])
        return self.norm_b(y + self.outer(torch.maximum(self.inner(y), torch.zeros(1, dtype=y.dtype))))
