import torch
from torch import nn
from torch.nn import functional as F


class Heads(nn.Module):
    """Keys and values from one layer, queries from another, no biases, attention by torch's fused function."""

    def __init__(self, d, n):
        super().__init__()
        self.n = n
        self.to_kv = nn.Linear(d, 2 * d, bias=False)
        self.to_q = nn.Linear(d, d, bias=False)
        self.to_out = nn.Linear(d, d)

    def forward(self, q_from, kv_from):
        k, v = self.to_kv(kv_from).chunk(2, dim=-1)
        q, k, v = (t.unflatten(-1, (self.n, -1)).transpose(1, 2) for t in (self.to_q(q_from), k, v))
        mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=q.device).tril()
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.to_out(y.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.net = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Dropout(p), nn.Linear(4 * d, d))

    def forward(self, x):
        return x + self.net(self.norm(x))


class DownProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.C = nn.Parameter(torch.zeros(1, config.bottleneck_dim, config.n_embd))
        torch.nn.init.xavier_uniform_(self.C)
        self.heads = Heads(config.n_embd, config.n_head)
        self.ln = nn.LayerNorm(config.n_embd)
        self.mlp = MLP(config.n_embd, config.resid_pdrop)

    def forward(self, x):
        x = self.ln(x)
        c = self.ln(self.C).expand(len(x), -1, -1)
        return self.mlp(self.heads(c, x))


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = Heads(config.n_embd, config.n_head)
        self.ln = nn.LayerNorm(config.n_embd)
        self.mlp = MLP(config.n_embd, config.resid_pdrop)

    def forward(self, y, x):
        return self.mlp(self.heads(self.ln(x), self.ln(y)))
