# Pointwise layers as Conv1d with kernel 1, features before tokens inside; a tensor subclass comes back.
import torch
from torch import nn


class Tokens(torch.Tensor):
    pass


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.n = heads
        self.c = nn.Conv1d(dim, 3 * dim, 1)
        self.o = nn.Conv1d(dim, dim, 1)
        self.a = nn.LayerNorm(dim)
        self.f = nn.Sequential(nn.Conv1d(dim, hidden, 1), nn.ReLU(), nn.Conv1d(hidden, dim, 1))
        self.b = nn.LayerNorm(dim)

    def forward(self, x):
        t = x.transpose(1, 2)
        v, k, q = self.c(t).chunk(3, dim=1)
        q, k, v = (u.unflatten(1, (self.n, -1)) for u in (q, k, v))  # B, H, h, N
        w = (q.transpose(2, 3) @ k * q.size(2) ** -0.5).softmax(-1)
        o = self.o((w @ v.transpose(2, 3)).transpose(2, 3).flatten(1, 2))
        y = self.a((t + o).transpose(1, 2))
        z = self.b(y + self.f(y.transpose(1, 2)).transpose(1, 2))
        return z.as_subclass(Tokens)
