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

from reference.shapes import shape_text


def causal_mask(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """True where query t may attend to key s, that is s ≤ t."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril()  # (T, S)


def scaled_dot_product(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(qkᵀ/√d)v over the last two axes, with the leading axes broadcast against each other."""
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"queries {shape_text(q)}, keys {shape_text(k)} and values {shape_text(v)} do not fit: q and k "
            "share their last axis (features), k and v their last but one (tokens)"
        )
    if k.shape[-2] == 0:
        raise ValueError(f"there is nothing to attend to: keys are {shape_text(k)}")
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


def require_tokens(x: Tensor, width: int, name: str = "x") -> None:
    """A floating (B, T, width) tensor with at least one token and no NaN or infinity in it."""
    if x.dim() != 3 or x.shape[2] != width or 0 in x.shape:
        raise ValueError(f"{name} must be (batch, tokens, {width}), none of them empty, but is {shape_text(x)}")
    if not bool(torch.isfinite(x).all()):
        raise ValueError(f"{name} {shape_text(x)} holds NaN or infinite entries")


class MultiHeadAttention(nn.Module):
    """Self-attention when given one sequence, cross-attention when the keys come from another."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or dim < 1 or dim % heads:
            raise ValueError(f"{heads} heads do not divide {dim} features evenly")
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Queries from x (B, T, D); keys and values from context (B, S, D), or from x if there is none."""
        width = self.query.in_features
        require_tokens(x, width)
        if context is None:
            context = x  # (B, T, D)
        else:
            require_tokens(context, width, "context")
        if x.shape[0] != context.shape[0] and 1 not in (x.shape[0], context.shape[0]):
            raise ValueError(f"x {shape_text(x)} and context {shape_text(context)} have different batch sizes")
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
