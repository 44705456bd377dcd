import torch
from torch import nn

import attention


class GPTConfig:
    embd_pdrop = resid_pdrop = attn_pdrop = 0.1
    synthesizer = False

    def __init__(self, vocab_size, block_size, **others):
        self.vocab_size, self.block_size = vocab_size, block_size
        vars(self).update(others)


class Block(nn.Module):
    """Attention, then an MLP. It looks at no flag."""

    def __init__(self, config):
        super().__init__()
        self.before = nn.LayerNorm(config.n_embd)
        self.after = nn.LayerNorm(config.n_embd)
        self.attn = nn.MultiheadAttention(config.n_embd, config.n_head, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(), nn.Linear(4 * config.n_embd, config.n_embd)
        )

    def forward(self, x):
        h = self.before(x)
        later = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
        x = x + self.attn(h, h, h, attn_mask=later, need_weights=False)[0]
        return x + self.mlp(self.after(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.tokens = nn.Embedding(config.vocab_size, config.n_embd)
        self.places = nn.Parameter(torch.zeros(1, config.block_size, config.n_embd))
        self.blocks = nn.Sequential(*(Block(config) for _ in range(config.n_layer)))
        self.norm = nn.LayerNorm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    def forward(self, idx, targets=None):
        x = self.blocks(self.tokens(idx) + self.places[:, : idx.size(1)])
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        return logits, nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
