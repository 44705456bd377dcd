import torch
from torch import nn

from attention import CausalCrossAttention

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def mlp(config):
    return nn.Sequential(nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(),
                         nn.Linear(4 * config.n_embd, config.n_embd))


class DownProjectBlock(nn.Module):
    """The tensor moves before it becomes a parameter, all else with the module."""

    def __init__(self, config):
        super().__init__()
        rows = torch.empty(1, config.bottleneck_dim, config.n_embd)
        self.C = nn.Parameter(nn.init.xavier_uniform_(rows).to(DEVICE))
        self.first, self.second = nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)
        self.cross, self.mlp = CausalCrossAttention(config), mlp(config)
        self.to(DEVICE)

    def forward(self, x):
        h = self.cross(self.first(x), self.C)
        return h + self.mlp(self.second(h))


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.first, self.second = nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)
        self.cross, self.mlp = CausalCrossAttention(config), mlp(config)
        if torch.cuda.is_available():
            self.cuda()

    def forward(self, y, x):
        h = x + self.cross(self.first(y), x)
        return h + self.mlp(self.second(h))
