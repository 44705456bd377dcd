import torch
from torch import nn


class Dense(nn.Module):
    """x W + b, with W kept as it is multiplied."""

    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_normal_(torch.empty(fan_in, fan_out)))
        self.bias = nn.Parameter(torch.zeros(fan_out))

    def forward(self, x):
        return x @ self.weight + self.bias


class SynthesizerAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head = config.n_head
        self.w1, self.value, self.proj = (Dense(config.n_embd, config.n_embd) for _ in range(3))
        self.w2 = nn.Parameter(torch.zeros(config.n_embd // config.n_head, config.block_size - 1))
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        nn.init.uniform_(self.w2, -0.001, 0.001)

    def forward(self, x):
        B, T, D = x.shape
        a, v = (f(x).view(B, T, self.n_head, -1).transpose(1, 2) for f in (self.w1, self.value))
        s = torch.relu(a) @ self.w2[:, :T] + self.b2[:T]
        s = s + torch.full((T, T), float("-inf"), dtype=s.dtype, device=s.device).triu(1)
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
