import torch
import torch.nn as nn
import torch.nn.functional as F


def precompute_rotary_emb(dim, max_positions):
    freqs = torch.pow(10000.0, -torch.arange(0, dim, 2) / dim)
    grid = torch.arange(max_positions)[:, None] * freqs[None, :]
    return torch.view_as_real(torch.polar(torch.ones_like(grid), grid))


def apply_rotary_emb(x, rope_cache):
    z = torch.view_as_complex(x.float().contiguous().view(*x.shape[:-1], x.shape[-1] // 2, 2))
    turn = torch.view_as_complex(rope_cache.float().contiguous())[: x.shape[-2]]
    return torch.view_as_real(z * turn).reshape(x.shape).type_as(x)


class CausalSelfAttention(nn.Module):
    """One layer for queries, keys and values; torch's fused attention."""

    def __init__(self, config):
        super().__init__()
        self.n_head = config.n_head
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.use_rope = getattr(config, "rope", False)
        self.rope_cache = precompute_rotary_emb(config.n_embd // config.n_head, config.block_size)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = [part.view(B, T, self.n_head, -1).transpose(1, 2) for part in self.qkv(x).split(C, dim=-1)]
        if self.use_rope:
            q, k = (apply_rotary_emb(part, self.rope_cache.to(x.device)) for part in (q, k))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))
