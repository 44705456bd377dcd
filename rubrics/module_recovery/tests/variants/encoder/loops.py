import warnings

import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        print("building a block of", dim, heads, hidden)
        warnings.warn("slow loops")
        size = dim // heads
        self.q = nn.ModuleList([nn.Linear(dim, size, bias=False) for _ in range(heads)])
        self.k = nn.ModuleList([nn.Linear(dim, size, bias=False) for _ in range(heads)])
        self.v = nn.ModuleList([nn.Linear(dim, size, bias=False) for _ in range(heads)])
        self.merge = nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(inplace=True), nn.Dropout(0.2), nn.Linear(hidden, dim))
        self.norms = nn.ModuleList([nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)])

    def forward(self, x):
        items = []
        for item in x:  # one sentence at a time
            heads = []
            for q, k, v in zip(self.q, self.k, self.v):
                rows = []
                for token in item:
                    scores = torch.stack([q(token) @ k(other) for other in item]) / q.out_features**0.5
                    weights = torch.exp(scores - scores.max())
                    weights = weights / weights.sum()
                    rows.append(sum(w * v(other) for w, other in zip(weights, item)))
                heads.append(torch.stack(rows))
            items.append(self.merge(torch.cat(heads, dim=-1)))
        y = self.norms[0](torch.stack(items) + x)
        return self.norms[1](self.mlp(y) + y)
