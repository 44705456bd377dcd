"""Post-norm encoder block with a projection for each role; the softmax is taken in double precision."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Heads(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        assert width % count == 0, "the heads have to share the width evenly"
        self.count = count
        self.to_query = nn.Linear(width, width)
        self.to_key = nn.Linear(width, width)
        self.to_value = nn.Linear(width, width)
        self.back = nn.Linear(width, width)

    def split(self, x):
        return x.unflatten(-1, (self.count, -1))

    def forward(self, x):
        q, k, v = self.split(self.to_query(x)), self.split(self.to_key(x)), self.split(self.to_value(x))
        scores = torch.einsum("bqhf,bkhf->bhqk", q, k) * q.shape[-1] ** -0.5
        weights = scores.double().softmax(dim=-1).to(x.dtype)
        return self.back(torch.einsum("bhqk,bkhf->bqhf", weights, v).flatten(-2))


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.mix = Heads(dim, heads)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)
        self.after_mix = nn.LayerNorm(dim)
        self.after_mlp = nn.LayerNorm(dim)

    def forward(self, tokens):
        print("tokens", tuple(tokens.shape))
        tokens = self.after_mix(self.mix(tokens) + tokens)
        return self.after_mlp(self.down(F.relu(self.up(tokens))) + tokens)
