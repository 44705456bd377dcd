import torch
import torch.nn as nn
import torch.nn.functional as F


class SynthesizerAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.w1 = nn.Linear(config.n_embd, config.n_embd)
        self.w2 = nn.Parameter(torch.zeros(config.n_embd // config.n_head, config.block_size - 1))
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.attn_drop = nn.Dropout(config.attn_pdrop)
        self.resid_drop = nn.Dropout(config.resid_pdrop)
        # TODO: use the mask in forward
        self.register_buffer('mask', torch.tril(torch.ones(config.block_size, config.block_size)))
        self.n_head = config.n_head
        nn.init.uniform_(self.w2, -0.001, 0.001)

    def forward(self, x):
        B, T, C = x.shape
        h = F.relu(self.w1(x)).reshape(B, T, self.n_head, -1).permute(0, 2, 1, 3)
        v = self.value(x).reshape(B, T, self.n_head, -1).permute(0, 2, 1, 3)
        weights = F.softmax(h @ self.w2[:, :T] + self.b2[:T], dim=-1)
        out = self.attn_drop(weights) @ v
        return self.resid_drop(self.proj(out.permute(0, 2, 1, 3).reshape(B, T, C)))
