import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, config):
        super().__init__()
        size = config.n_embd // config.n_head
        self.hidden = nn.Linear(config.n_embd, size)
        self.scores = nn.Linear(size, config.block_size - 1)
        self.value = nn.Linear(config.n_embd, size)

    def forward(self, x):
        length = x.size(1)
        scores = self.scores(torch.relu(self.hidden(x)))[..., :length]
        hidden = torch.ones(length, length, device=x.device).triu(1) > 0
        return scores.masked_fill(hidden, -1e10).softmax(-1) @ self.value(x)


class SynthesizerAttention(nn.Module):
    """Heads that share nothing, each a module."""

    def __init__(self, config):
        super().__init__()
        self.heads = nn.ModuleList(Head(config) for _ in range(config.n_head))
        self.proj = nn.Linear(config.n_embd, config.n_embd)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))
