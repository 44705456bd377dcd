"""The model."""
from torch import nn

from .attention import CausalSelfAttention


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)])
        self.attention = CausalSelfAttention(config)
        self.feed_forward = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(), nn.Linear(4 * config.n_embd, config.n_embd)
        )

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.feed_forward(self.norms[1](x))
