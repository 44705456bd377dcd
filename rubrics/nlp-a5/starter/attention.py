"""2.g.i, the Synthesizer or RoPE; one variant is enough. The course's attention layers belong here too."""

from torch import nn


class SynthesizerAttention(nn.Module):
    """Causal attention whose weights are made from each token alone, in config.n_head heads.

    config has n_embd, n_head, block_size, attn_pdrop and resid_pdrop. Every length below block_size has to work.
    """

    def __init__(self, config):
        super().__init__()

    def forward(self, x):
        """(B, T, n_embd) → (B, T, n_embd)"""
        raise NotImplementedError


def precompute_rotary_emb(dim, max_positions):
    """Cosines and sines of every position's angles, (max_positions, dim/2, 2). dim: width of a head, even."""
    raise NotImplementedError


def apply_rotary_emb(x, rope_cache):
    """x rotated by its positions: (B, heads, T, dim) → the same. The cache may hold more positions than T.

    CausalSelfAttention has to call it for queries and keys if config.rope is set.
    """
    raise NotImplementedError
