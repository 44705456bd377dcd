import torch
from torch import nn


def precompute_rotary_emb(dim, max_positions):
    powers = torch.arange(0, dim, 2) / dim
    turns = torch.arange(max_positions)[:, None] / 10000 ** powers
    return torch.stack((torch.cos(turns), torch.sin(turns)), dim=-1)


def apply_rotary_emb(x, rope_cache):
    cos, sin = rope_cache[: x.size(-2)].to(x).unbind(-1)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class CausalSelfAttention(nn.Module):
    """For each head three maps, side by side in one tensor; what leaves the heads is a tensor, too."""

    def __init__(self, config):
        super().__init__()
        d, h = config.n_embd, config.n_head
        self.maps = nn.Parameter(torch.randn(h, 3, d, d // h) * 0.05)
        self.added = nn.Parameter(torch.zeros(h, 3, 1, d // h))
        self.leaving = nn.Parameter(torch.randn(h, d // h, d) * 0.05)
        self.turned = config.rope
        self.register_buffer("cache", precompute_rotary_emb(d // h, config.block_size))

    def forward(self, x):
        q, k, v = (torch.einsum("btd,hpdc->pbhtc", x, self.maps) + self.added.transpose(0, 1)[:, None]).unbind(0)
        if self.turned:
            q, k = apply_rotary_emb(q, self.cache), apply_rotary_emb(k, self.cache)
        s = q @ k.mT / k.size(-1) ** 0.5
        s = s.masked_fill(torch.ones_like(s).triu(1).bool(), float("-inf"))
        return torch.einsum("bhts,bhsc,hcd->btd", s.softmax(-1), v, self.leaving)
