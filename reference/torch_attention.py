"""Attention as torch modules: rows are tokens, a batch in front, heads in their own axis.

Equation    softmax(QKᵀ/√d_h + mask)V per head; heads side by side, then one output projection.
Convention  x is (B, T, D). D features are split into H heads of d_h = D/H, head h taking features
            h·d_h … (h+1)·d_h − 1, as `nn.MultiheadAttention` does.
            A mask is boolean, True = may attend, and broadcasts to (B, H, T, S): queries are rows,
            keys are columns.
Readings    * torch's `nn.MultiheadAttention` reads boolean masks the other way round (True = hidden);
              `F.scaled_dot_product_attention` reads them as here.
            * A query that may attend to nothing gets zeros, not NaN and not the mean of everything.
            * Causal attention between a query row t and a key row s of *different* sequences compares
              their indices: t sees s ≤ t. It is what the Perceiver blocks of the homework use.
"""

from __future__ import annotations

from math import sqrt

import torch
from torch import Tensor, nn

from reference.shapes import require_dot_product, require_even_heads, require_same_batch, require_tokens


def causal_mask(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """True where query t may attend to key s, that is s ≤ t."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril()  # (T, S)


def scaled_dot_product(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(qkᵀ/√d)v over the last two axes, with the leading axes broadcast against each other."""
    require_dot_product(q, k, v)
    scores = q @ k.mT / sqrt(q.shape[-1])  # (…, T, S)
    if mask is None:
        return scores.softmax(dim=-1) @ v  # (…, T, d_v)
    # The lowest finite number, not −∞: a row of −∞ has a NaN softmax and, worse, NaN gradients. Multiplying
    # by the mask afterwards changes only rows with nothing to attend to (exp already underflowed elsewhere).
    hidden = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)  # (…, T, S)
    weights = hidden.softmax(dim=-1) * mask  # (…, T, S), rows sum to one, or to zero
    return weights @ v  # (…, T, d_v)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, D) → (B, H, T, D/H)."""
    batch, tokens, width = x.shape
    return x.view(batch, tokens, heads, width // heads).transpose(1, 2)  # (B, H, T, D/H)


def join_heads(x: Tensor) -> Tensor:
    """(B, H, T, D/H) → (B, T, D): the inverse of `split_heads`."""
    return x.transpose(1, 2).flatten(start_dim=2)  # (B, T, D)


class MultiHeadAttention(nn.Module):
    """Self-attention when given one sequence, cross-attention when the keys come from another."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        require_even_heads(heads, dim)
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Queries from x (B, T, D); keys and values from context (B, S, D), or from x if there is none."""
        require_tokens(x, self.query.in_features)
        if context is None:
            context = x  # (B, T, D)
        else:
            require_tokens(context, self.query.in_features, "context")
            require_same_batch(x, context)
        q = split_heads(self.query(x), self.heads)  # (B, H, T, D/H)
        k = split_heads(self.key(context), self.heads)  # (B, H, S, D/H)
        v = split_heads(self.value(context), self.heads)  # (B, H, S, D/H)
        q, k = self.place(q, k)  # unchanged here; RoPE rotates both by their positions
        heads = scaled_dot_product(q, k, v, mask)  # (B, H, T, D/H)
        projected: Tensor = self.output(join_heads(heads))  # (B, T, D)
        return projected

    def place(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Where a subclass tells queries and keys their positions; plain attention knows of none."""
        return q, k
