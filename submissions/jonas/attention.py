import torch
import torch.nn as nn
import torch.nn.functional as F


class SynthesizerAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        size = config.n_embd
        self.w1 = nn.Linear(size, size)
        self.w2 = nn.Parameter(0.001 * torch.randn(size // config.n_head, config.block_size - 1))
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        self.value = nn.Linear(size, size)
        self.proj = nn.Linear(size, size)
        self.n_head = config.n_head
        self.register_buffer("mask", torch.tril(torch.ones(config.block_size - 1, config.block_size - 1)))

    def forward(self, x):
        B, T, C = x.size()
        a = F.relu(self.w1(x)).view(B, T, self.n_head, -1).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, -1).transpose(1, 2)
        att = a @ self.w2 + self.b2
        att = F.softmax(att.masked_fill(self.mask == 0, -1e10), dim=-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(y)
