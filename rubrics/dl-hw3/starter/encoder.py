"""2.3 The encoder block of the original Transformer, in torch."""

from torch import nn


class EncoderBlock(nn.Module):
    """Post-norm, with ReLU in the feed-forward network.

    nn.MultiheadAttention and F.scaled_dot_product_attention may be used, the whole nn.TransformerEncoderLayer may not.
    """

    def __init__(self, dim, heads, hidden):
        """dim: width of a token; heads: whole number that divides it; hidden: width inside the feed-forward network."""
        super().__init__()

    def forward(self, x):
        """(B, N, dim) → (B, N, dim)"""
        raise NotImplementedError
