"""2.3 The encoder block of the original Transformer, in torch."""

from torch import nn


class EncoderBlock(nn.Module):
    """Post-norm, with ReLU in the feed-forward network."""

    def __init__(self, dim, heads, hidden):
        """dim: width of a token; heads: whole number that divides it; hidden: width inside the feed-forward network."""
        super().__init__()

    def forward(self, x):
        """(B, N, dim) → (B, N, dim)"""
        raise NotImplementedError
