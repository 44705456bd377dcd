import torch
import torch.nn as nn

from layers import CausalCrossAttention, mlp

device = torch.cuda.current_device() if torch.cuda.is_available() else "cpu"


class DownProjectBlock(nn.Module):
    """The basis C asks the sequence: (B, l, d) -> (B, m, d)."""

    def __init__(self, config):
        super().__init__()
        self.C = nn.Parameter(nn.init.xavier_uniform_(torch.empty(1, config.bottleneck_dim, config.n_embd)))
        self.ln1 = nn.LayerNorm(config.n_embd)
        self.ln2 = nn.LayerNorm(config.n_embd)
        self.attn = CausalCrossAttention(config)
        self.mlp = mlp(config)

    def forward(self, x_input):
        basis = self.C.expand(x_input.size(0), -1, -1)
        z = basis + self.attn(self.ln1(x_input), basis)
        return z + self.mlp(self.ln2(z))


class UpProjectBlock(nn.Module):
    """The sequence asks the bottleneck: (B, m, d) -> (B, l, d)."""

    def __init__(self, config):
        super().__init__()
        self.ln1 = nn.LayerNorm(config.n_embd)
        self.ln2 = nn.LayerNorm(config.n_embd)
        self.attn = CausalCrossAttention(config)
        self.mlp = mlp(config)

    def forward(self, y, x_input):
        z = x_input + self.attn(self.ln1(y), x_input)
        return z + self.mlp(self.ln2(z))
