import torch
from torch import nn


class SynthesizerAttention(nn.Module):
    """Each head with matrices of its own, on an axis of their tensors; w2 and b2 too."""

    def __init__(self, config):
        super().__init__()
        d, h, longest = config.n_embd, config.n_head, config.block_size - 1
        c = d // h
        self.first = nn.Parameter(torch.randn(d, h, c) * 0.05)
        self.first_bias = nn.Parameter(torch.zeros(h, c))
        self.second = nn.Parameter(torch.empty(c, longest, h).uniform_(-0.001, 0.001))
        self.second_bias = nn.Parameter(torch.zeros(h, 1, longest))
        self.content = nn.Parameter(torch.randn(d, h, c) * 0.05)
        self.join = nn.Parameter(torch.randn(h, c, d) * 0.05)
        self.join_bias = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        t = x.size(1)
        hidden = (torch.einsum("btd,dhc->bthc", x, self.first) + self.first_bias).relu()
        scores = torch.einsum("bthc,csh->bhts", hidden, self.second[:, :t]) + self.second_bias[..., :t]
        seen = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
        mixed = torch.einsum("bhts,bsd,dhc->bthc", weights, x, self.content)
        return torch.einsum("bthc,hcd->btd", mixed, self.join) + self.join_bias
