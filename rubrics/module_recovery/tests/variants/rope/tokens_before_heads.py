import torch
import torch.nn as nn
import torch.nn.functional as F


def precompute_rotary_emb(dim: int, max_positions: int) -> torch.Tensor:
    exponent = -2 * (torch.arange(1, dim // 2 + 1) - 1) / dim
    theta = torch.tensor(10000.0) ** exponent
    m = torch.arange(0, max_positions)
    return torch.exp(1j * torch.outer(m, theta))


def apply_rotary_emb(x, rope_cache):
    """x is (batch, tokens, heads, size), as it comes from view()."""
    b, t, h, s = x.shape
    z = torch.complex(x[..., ::2], x[..., 1::2])
    z = z * rope_cache[:t].view(1, t, 1, s // 2)
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=False)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.cfg = config
        self.register_buffer("freqs", precompute_rotary_emb(config.n_embd // config.n_head, config.block_size),
                             persistent=False)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.c_attn(x).view(B, T, 3, self.cfg.n_head, -1).unbind(2)
        if self.cfg.rope:
            q, k = apply_rotary_emb(q, self.freqs), apply_rotary_emb(k, self.freqs)
        w = torch.einsum("bihd,bjhd->bhij", q, k) * q.size(-1) ** -0.5
        w = w + torch.triu(torch.full((T, T), float("-inf"), device=x.device, dtype=w.dtype), 1)
        return self.c_proj(torch.einsum("bhij,bjhd->bihd", F.softmax(w, -1), v).reshape(B, T, D))
