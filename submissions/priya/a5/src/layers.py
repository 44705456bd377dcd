import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalCrossAttention(nn.Module):
    """Queries from x_q, keys and values from x_kv."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.n_head
        self.q_proj = nn.Linear(config.n_embd, config.n_embd)
        self.kv_proj = nn.Linear(config.n_embd, 2 * config.n_embd)
        self.out_proj = nn.Linear(config.n_embd, config.n_embd)
        self.drop = nn.Dropout(config.attn_pdrop)
        self.out_drop = nn.Dropout(config.resid_pdrop)

    def split(self, t):
        return t.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x_kv, x_q):
        q = self.split(self.q_proj(x_q))
        k, v = map(self.split, self.kv_proj(x_kv).chunk(2, dim=-1))
        scores = q @ k.mT / math.sqrt(q.size(-1))
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        weights = self.drop(F.softmax(scores.masked_fill(later, -1e10), dim=-1))
        return self.out_drop(self.out_proj((weights @ v).transpose(1, 2).flatten(2)))


def mlp(config):
    return nn.Sequential(
        nn.Linear(config.n_embd, 4 * config.n_embd),
        nn.GELU(),
        nn.Linear(4 * config.n_embd, config.n_embd),
        nn.Dropout(config.resid_pdrop),
    )
