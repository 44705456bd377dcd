import torch
from torch import nn
from torch.nn import functional as F


class SynthesizerAttention(nn.Module):
    """The mask is added to b2 before the product: no scores are ever without it."""

    def __init__(self, config):
        super().__init__()
        d, self.heads = config.n_embd, config.n_head
        self.w1, self.value, self.proj = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.w2 = nn.Parameter(torch.rand(d // self.heads, config.block_size - 1) * 0.002 - 0.001)
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))

    def by_head(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2).flatten(0, 1)

    def forward(self, x):
        B, T, D = x.shape
        a, v = self.by_head(F.relu(self.w1(x))), self.by_head(self.value(x))
        added = self.b2[:T] + torch.full((T, T), -1e9, dtype=x.dtype, device=x.device).triu(1)
        scores = torch.baddbmm(added.expand(len(a), T, T), a, self.w2[:, :T].expand(len(a), -1, -1))
        y = torch.bmm(scores.softmax(-1), v)
        return self.proj(y.unflatten(0, (B, self.heads)).transpose(1, 2).flatten(2))
