import torch
from torch import nn


def matrices(n, *sides):
    return nn.ParameterList([nn.Parameter(torch.randn(*sides) / sides[0] ** 0.5) for _ in range(n)])


class Crossing(nn.Module):
    """A matrix for each head and role, and one more for what comes of the heads."""

    def __init__(self, d, n):
        super().__init__()
        self.queries, self.keys, self.values = (matrices(n, d, d // n) for _ in range(3))
        self.proj = nn.Linear(d, d)

    def forward(self, memory, asking):
        seen = torch.ones(asking.size(1), memory.size(1), device=memory.device).tril()
        found = []
        for to_q, to_k, to_v in zip(self.queries, self.keys, self.values):
            s = (asking @ to_q) @ (memory @ to_k).mT / to_q.size(1) ** 0.5
            found.append(s.masked_fill(seen == 0, -1e10).softmax(-1) @ (memory @ to_v))
        return self.proj(torch.cat(found, dim=-1))


class LevelNorm(nn.LayerNorm):
    pass


class DownProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.n_embd
        self.C = nn.Parameter(torch.zeros(1, config.bottleneck_dim, d))
        nn.init.xavier_uniform_(self.C)
        self.crossing = Crossing(d, config.n_head)
        self.norms = nn.ModuleList([LevelNorm(d), LevelNorm(d), LevelNorm(d)])
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        c = self.C.expand(x.size(0), -1, -1)
        z = c + self.crossing(self.norms[0](x), self.norms[1](c))
        return z + self.mlp(self.norms[2](z))


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.n_embd
        self.crossing = Crossing(d, config.n_head)
        self.norms = nn.ModuleList([LevelNorm(d), LevelNorm(d), LevelNorm(d)])
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, y, x):
        z = x + self.crossing(self.norms[0](y), self.norms[1](x))
        return z + self.mlp(self.norms[2](z))
