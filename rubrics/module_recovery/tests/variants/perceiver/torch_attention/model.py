import torch
import torch.nn as nn


class Cross(nn.Module):
    """Torch's own layer, which packs its three projections into one matrix."""

    def __init__(self, config):
        super().__init__()
        self.mha = nn.MultiheadAttention(config.n_embd, config.n_head, dropout=config.attn_pdrop, batch_first=True)

    def forward(self, asks, answers):
        ahead = torch.ones(asks.size(1), answers.size(1), dtype=torch.bool, device=asks.device).triu(1)
        return self.mha(asks, answers, answers, attn_mask=ahead, need_weights=False)[0]


class DownProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.C = nn.Embedding(config.bottleneck_dim, config.n_embd)
        nn.init.xavier_uniform_(self.C.weight)
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.ln_2 = nn.LayerNorm(config.n_embd, eps=1e-6)
        self.attn = Cross(config)
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd)
        self.act = nn.GELU(approximate="tanh")

    def forward(self, x_input):
        B = x_input.size(0)
        rows = torch.arange(self.C.num_embeddings, device=x_input.device)
        h = self.attn(self.C(rows).expand(B, -1, -1), self.ln_1(x_input))
        return self.c_proj(self.act(self.c_fc(self.ln_2(h)))) + h


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.ln_2 = nn.LayerNorm(config.n_embd, eps=1e-6)
        self.attn = Cross(config)
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd)
        self.act = nn.GELU(approximate="tanh")

    def forward(self, y, x_input):
        h = self.ln_1(x_input) + self.attn(self.ln_1(x_input), self.ln_1(y))
        return self.c_proj(self.act(self.c_fc(self.ln_2(h)))) + h
