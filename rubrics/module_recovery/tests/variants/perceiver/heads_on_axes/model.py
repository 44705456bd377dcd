import torch
from torch import nn


class CrossAttention(nn.Module):
    """An axis for each of width, head and feature; nothing is ever split or joined."""

    def __init__(self, d, h):
        super().__init__()
        c = d // h
        self.map_q, self.map_k, self.map_v = (nn.Parameter(torch.randn(d, h, c) / d ** 0.5) for _ in range(3))
        self.add_q, self.add_k, self.add_v = (nn.Parameter(torch.zeros(h, c)) for _ in range(3))
        self.map_o, self.add_o = nn.Parameter(torch.randn(h, c, d) / d ** 0.5), nn.Parameter(torch.zeros(d))

    def forward(self, x_kv, x_q):
        q = torch.einsum("btd,dhc->bthc", x_q, self.map_q) + self.add_q
        k = torch.einsum("bsd,dhc->bshc", x_kv, self.map_k) + self.add_k
        v = torch.einsum("bsd,dhc->bshc", x_kv, self.map_v) + self.add_v
        scores = torch.einsum("bthc,bshc->bhts", q, k) * q.size(-1) ** -0.5
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        weights = torch.softmax(scores.masked_fill(later, float("-inf")), dim=-1)
        return torch.einsum("bhts,bshc,hcd->btd", weights, v, self.map_o) + self.add_o


class _Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.n_embd
        self.attention = CrossAttention(d, config.n_head)
        self.ln_kv, self.ln_mlp = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d))

    def answered(self, rows, asking):
        z = asking + self.attention(self.ln_kv(rows), asking)
        return z + self.mlp(self.ln_mlp(z))


class DownProjectBlock(_Block):
    def __init__(self, config):
        super().__init__(config)
        self.C = nn.Parameter(torch.empty(1, config.bottleneck_dim, config.n_embd))
        nn.init.xavier_uniform_(self.C)

    def forward(self, x_input):
        return self.answered(x_input, self.C.repeat(len(x_input), 1, 1))


class UpProjectBlock(_Block):
    def forward(self, y, x_input):
        return self.answered(y, x_input)
