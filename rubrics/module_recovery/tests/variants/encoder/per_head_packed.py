# A layer for each head that makes its query, key and value at once: no reading is tried for that, so a person looks.
import torch
import torch.nn.functional as F
from torch import nn


class Head(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.all = nn.Linear(dim, 3 * size)

    def forward(self, x):
        q, k, v = self.all(x).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(q, k, v)


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = nn.ModuleList(Head(dim, dim // heads) for _ in range(heads))
        self.out = nn.Linear(dim, dim)
        self.l1, self.l2 = nn.Linear(dim, hidden), nn.Linear(hidden, dim)
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x):
        x = self.n1(x + self.out(torch.cat([head(x) for head in self.heads], dim=-1)))
        return self.n2(x + self.l2(self.l1(x).relu()))
