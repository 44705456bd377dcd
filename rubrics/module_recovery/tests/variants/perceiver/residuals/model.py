import torch
from torch import nn

from attention import CausalCrossAttention


def mlp(config):
    return nn.Sequential(nn.Linear(config.n_embd, 2 * config.n_embd), nn.ReLU(),
                         nn.Linear(2 * config.n_embd, config.n_embd))


class DownProjectBlock(nn.Module):
    """A residual round the attention, a LayerNorm of its own for the basis."""

    def __init__(self, config):
        super().__init__()
        self.basis = nn.Parameter(nn.init.xavier_uniform_(torch.zeros(1, config.bottleneck_dim, config.n_embd)))
        self.norm_x, self.norm_c, self.norm_mlp = (nn.LayerNorm(config.n_embd) for _ in range(3))
        self.cross = CausalCrossAttention(config)
        self.ff = mlp(config)

    def forward(self, x):
        c = self.basis.expand(x.shape[0], -1, -1)
        h = c + self.cross(x_kv=self.norm_x(x), x_q=self.norm_c(c))
        return h + self.ff(self.norm_mlp(h))


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm_y, self.norm_x, self.norm_mlp = (nn.LayerNorm(config.n_embd) for _ in range(3))
        self.cross = CausalCrossAttention(config)
        self.ff = mlp(config)

    def forward(self, y, x_input):
        h = x_input + self.cross(x_kv=self.norm_y(y), x_q=self.norm_x(x_input))
        return h + self.ff(self.norm_mlp(h))
