import torch
import torch.nn as nn
import torch.nn.functional as F


class SynthesizerAttention(nn.Module):
    """A constant matrix made in forward() is float32, so that the module runs in no other precision. No projection."""

    def __init__(self, config):
        super().__init__()
        self.nh = config.n_head
        self.w1 = nn.Linear(config.n_embd, config.n_embd)
        self.w2 = nn.Parameter(torch.rand(config.n_embd // config.n_head, config.block_size - 1) * 0.002 - 0.001)
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.drop = nn.Dropout(config.attn_pdrop)

    def forward(self, x):
        B, T, D = x.size()
        pick = torch.eye(self.w2.size(1))[:, :T]
        a = F.relu(self.w1(x)).view(B, T, self.nh, D // self.nh).permute(0, 2, 1, 3)
        v = self.value(x).view(B, T, self.nh, D // self.nh).permute(0, 2, 1, 3)
        s = (a @ self.w2 + self.b2) @ pick
        s = torch.where(torch.tril(torch.ones(T, T)) > 0, s, torch.tensor(-1e10))
        y = self.drop(F.softmax(s, dim=3)) @ v
        return y.permute(0, 2, 1, 3).reshape(B, T, D)
