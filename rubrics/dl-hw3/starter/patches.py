"""2.4 Images as tokens, in torch."""

from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        """image, patch: sides in pixels, the second divides the first; channels of the image; dim: width of a token."""
        super().__init__()

    def forward(self, images):
        """(B, channels, image, image) → (B, N, dim), patches row by row"""
        raise NotImplementedError
