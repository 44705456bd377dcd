import torch
import torch.nn as nn
import torch.nn.functional as F


class DownProjectBlock(nn.Module):
    """Four matrices in one parameter; the MLP by einsum."""

    def __init__(self, config):
        super().__init__()
        d = config.n_embd
        self.n_head = config.n_head
        self.C = nn.Parameter(torch.empty(1, config.bottleneck_dim, d))
        nn.init.xavier_uniform_(self.C)
        self.maps = nn.Parameter(torch.randn(4, d, d) / d ** 0.5)
        self.wide = nn.Parameter(torch.randn(2, d, 4 * d) * 0.02)
        self.ln = nn.LayerNorm(d)

    def heads(self, x, n):
        return torch.einsum("btd,de->bte", x, self.maps[n]).unflatten(-1, (self.n_head, -1)).transpose(1, 2)

    def forward(self, x):
        c = self.C.expand(x.size(0), -1, -1)
        q, k, v = self.heads(c, 0), self.heads(x, 1), self.heads(x, 2)
        s = q @ k.mT / q.size(-1) ** 0.5
        s = s + torch.full(s.shape[-2:], -1e9, dtype=s.dtype).triu(1)
        y = (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ self.maps[3]
        h = F.gelu(self.ln(y) @ self.wide[0])
        return y + torch.einsum("btf,df->btd", h, self.wide[1])


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.n_embd
        self.n_head = config.n_head
        self.maps = nn.Parameter(torch.randn(4, d, d) / d ** 0.5)
        self.wide = nn.Parameter(torch.randn(2, d, 4 * d) * 0.02)
        self.ln = nn.LayerNorm(d)

    heads = DownProjectBlock.heads

    def forward(self, y, x):
        q, k, v = self.heads(x, 0), self.heads(y, 1), self.heads(y, 2)
        s = q @ k.mT / q.size(-1) ** 0.5
        s = s + torch.full(s.shape[-2:], -1e9, dtype=s.dtype).triu(1)
        h = x + (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ self.maps[3]
        g = F.gelu(self.ln(h) @ self.wide[0])
        return h + torch.einsum("btf,df->btd", g, self.wide[1])
