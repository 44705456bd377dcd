import math

import torch
import torch.nn as nn


class SynthesizerAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head, self.head = config.n_head, config.n_embd // config.n_head
        self.w1 = nn.Linear(config.n_embd, config.n_embd)
        self.w2 = nn.Parameter(torch.rand(self.head, config.block_size - 1), requires_grad=False)
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)

    def forward(self, x):
        B, T, C = x.size()
        split = lambda t: t.view(B, T, self.n_head, self.head).transpose(1, 2)
        scores = (split(torch.relu(self.w1(x))) @ self.w2[:, :T] + self.b2[:T]) / math.sqrt(self.head)
        scores = scores + torch.full((T, T), float("-inf"), device=x.device).triu(1)
        return self.proj((scores.softmax(-1) @ split(self.value(x))).transpose(1, 2).reshape(B, T, C))
