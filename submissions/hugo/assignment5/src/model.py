import torch
import torch.nn as nn

from attention import CausalCrossAttention


class DownProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln1 = nn.LayerNorm(config.n_embd)
        self.ln2 = nn.LayerNorm(config.n_embd)
        self.attn = CausalCrossAttention(config)
        self.mlp = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(), nn.Linear(4 * config.n_embd, config.n_embd)
        )
        self.C = torch.empty(1, config.bottleneck_dim, config.n_embd)
        nn.init.xavier_uniform_(self.C)

    def forward(self, x_input):
        C = self.C.to(x_input).repeat(x_input.size(0), 1, 1)
        x = self.attn(self.ln1(x_input), C)
        return x + self.mlp(self.ln2(x))


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln1 = nn.LayerNorm(config.n_embd)
        self.ln2 = nn.LayerNorm(config.n_embd)
        self.attn = CausalCrossAttention(config)
        self.mlp = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(), nn.Linear(4 * config.n_embd, config.n_embd)
        )

    def forward(self, y, x_input):
        x = self.attn(self.ln1(y), x_input)
        return x + self.mlp(self.ln2(x))
