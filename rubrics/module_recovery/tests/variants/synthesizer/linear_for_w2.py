import torch
import torch.nn as nn


class SynthesizerAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.n_head
        self.dense = nn.Sequential(nn.Linear(cfg["n_embd"], cfg["n_embd"]), nn.ReLU())
        self.scores = nn.Linear(cfg.n_embd // cfg.n_head, cfg.get("block_size") - 1)
        self.v_proj = nn.Linear(cfg.n_embd, cfg.n_embd, bias=False)
        self.o_proj = nn.Linear(cfg.n_embd, cfg.n_embd)
        self.dropout = nn.Dropout(cfg.attn_pdrop)

    def forward(self, x, past=None):
        B, T, D = x.shape
        h = self.dense(x)
        out = []
        for part, value in zip(h.chunk(self.heads, -1), self.v_proj(x).chunk(self.heads, -1)):
            s = self.scores(part)[:, :, :T]
            bias = torch.full((T, T), -1e9, dtype=x.dtype, device=x.device).triu(diagonal=1)
            w = self.dropout(torch.softmax(s + bias, dim=2))
            out.append(torch.bmm(w, value))
        return self.o_proj(torch.cat(out, dim=-1))
