import math
import torch
import torch.nn as nn


class CausalCrossAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.key = nn.Linear(config.n_embd, config.n_embd)
        self.query = nn.Linear(config.n_embd, config.n_embd)
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.n_head = config.n_head

    def forward(self, x_kv, x_q):
        def heads(t):
            return t.view(t.size(0), t.size(1), self.n_head, -1).transpose(1, 2)

        q, k, v = heads(self.query(x_q)), heads(self.key(x_kv)), heads(self.value(x_kv))
        att = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
        mask = torch.tril(torch.ones(att.size(-2), att.size(-1), device=att.device))
        att = torch.softmax(att.masked_fill(mask == 0, -1e10), dim=-1)
        y = (att @ v).transpose(1, 2)
        return self.proj(y.reshape(y.size(0), y.size(1), -1))
