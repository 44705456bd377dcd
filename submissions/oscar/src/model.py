import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head = config.n_head
        self.query, self.key, self.value, self.proj = (nn.Linear(config.n_embd, config.n_embd) for _ in range(4))

    def forward(self, x_kv, x_q):
        q, k, v = (
            layer(x).unflatten(2, (self.n_head, -1)).transpose(1, 2)
            for layer, x in ((self.query, x_q), (self.key, x_kv), (self.value, x_kv))
        )
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(torch.ones_like(scores[0, 0]).triu(1).bool(), -1e10)
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class ProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)
        self.attn = CrossAttention(config)
        self.mlp = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(), nn.Linear(4 * config.n_embd, config.n_embd)
        )

    def project(self, x_kv, x_q):
        x = self.attn(self.ln1(x_kv), x_q)
        return x + self.mlp(self.ln2(x))


class DownProjectBlock(ProjectBlock):
    def __init__(self, config):
        super().__init__(config)
        self.C = nn.Parameter(torch.empty(1, config.bottleneck_dim, config.n_embd))
        nn.init.xavier_uniform_(self.C)

    def forward(self, x_input):
        with torch.no_grad():
            kept = self.ln1(x_input)
        x = self.attn(kept, self.C.expand(len(x_input), -1, -1))
        return x + self.mlp(self.ln2(x))


class UpProjectBlock(ProjectBlock):
    def forward(self, y, x_input):
        return self.project(x_input, y)
