import torch
from torch import nn


class SynthesizerAttention(nn.Module):
    """Everything as bare matrices, multiplied by einsum."""

    def __init__(self, config):
        super().__init__()
        d, h = config.n_embd, config.n_head
        self.h = h
        self.W_in = nn.Parameter(torch.randn(d, d) * 0.02)
        self.b_in = nn.Parameter(torch.zeros(d))
        self.W_out = nn.Parameter(torch.randn(d // h, config.block_size - 1) * 0.001)
        self.b_out = nn.Parameter(torch.zeros(config.block_size - 1))
        self.values = nn.Parameter(torch.randn(d, d) * 0.02)
        self.mix = nn.Linear(d, d, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        hidden = torch.clamp(torch.einsum("btd,de->bte", x, self.W_in) + self.b_in, min=0)
        hidden = hidden.reshape(b, t, self.h, -1)
        v = (x @ self.values).reshape(b, t, self.h, -1)
        logits = torch.einsum("bihk,kj->bhij", hidden, self.W_out[:, :t]) + self.b_out[:t]
        ahead = torch.ones(t, t, device=x.device).triu(1).bool()
        weights = logits.masked_fill(ahead, float("-inf")).softmax(-1)
        return self.mix(torch.einsum("bhij,bjhk->bihk", weights, v).reshape(b, t, d))
