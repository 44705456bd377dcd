# qkv packed per head, and features of a head are every H-th one; weights are learned, so that is as good.
import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.0))
        self.ff = nn.Sequential(nn.Linear(dim, hidden, bias=False), nn.ReLU(), nn.Linear(hidden, dim, bias=False))
        self.ln_out, self.ln_in = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x):
        B, N, D = x.size()
        qkv = self.to_qkv(x).reshape(B, N, D // self.heads, 3, self.heads).permute(3, 0, 4, 1, 2)
        q, k, v = qkv.unbind(0)
        dots = torch.einsum("bhid,bhjd->bhij", q, k).mul((D // self.heads) ** -0.5)
        out = torch.einsum("bhij,bhjd->bihd", dots.softmax(dim=-1), v).reshape(B, N, D)
        x = self.ln_in(self.to_out(out) + x)
        return self.ln_out(x + self.ff(x))
