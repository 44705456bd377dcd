import torch
import torch.nn as nn
import torch.nn.functional as F

import attention


class Block(nn.Module):
    """What both have in common; post-norm; the layers of the vanilla block are still there, unused."""

    def __init__(self, config):
        super().__init__()
        self.attn = attention.CausalCrossAttention(config)
        self.old_ln = nn.LayerNorm(config.n_embd)
        self.post1 = nn.LayerNorm(config.n_embd)
        self.post2 = nn.LayerNorm(config.n_embd)
        self.fc = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.out = nn.Linear(4 * config.n_embd, config.n_embd)
        self.pdrop = config.resid_pdrop

    def finish(self, h):
        h = self.post1(h)
        m = F.dropout(self.out(F.gelu(self.fc(h))), self.pdrop, training=self.training)
        return self.post2(h + m)


class DownProjectBlock(Block):
    def __init__(self, config):
        super().__init__(config)
        self.C = nn.Parameter(torch.randn(config.bottleneck_dim, config.n_embd))
        nn.init.xavier_uniform_(self.C)

    def forward(self, x_input):
        return self.finish(self.attn(x_input, self.C.unsqueeze(0).repeat(x_input.size(0), 1, 1)))


class UpProjectBlock(Block):
    def forward(self, y, x_input):
        return self.finish(self.attn(y, x_input) + x_input)
