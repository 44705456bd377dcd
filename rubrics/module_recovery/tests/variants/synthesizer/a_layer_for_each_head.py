import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self, d, size):
        super().__init__()
        self.hidden = nn.Linear(d, size)
        self.value = nn.Linear(d, size)

    def forward(self, x, w2, b2, mask):
        t = x.size(1)
        scores = torch.relu(self.hidden(x)) @ w2[:, :t] + b2[:t]
        return scores.masked_fill(mask[:t, :t], -1e10).softmax(dim=-1) @ self.value(x)


class SynthesizerAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        size = config.n_embd // config.n_head
        self.heads = nn.ModuleList([Head(config.n_embd, size) for _ in range(config.n_head)])
        self.w2 = nn.Parameter(torch.empty(size, config.block_size - 1).uniform_(-0.001, 0.001))
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.register_buffer("mask", torch.triu(torch.ones(config.block_size, config.block_size), 1).bool())

    def forward(self, x):
        return self.proj(torch.cat([head(x, self.w2, self.b2, self.mask) for head in self.heads], dim=-1))
