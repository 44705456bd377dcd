"""2.5 ViT, in torch. It may use your files encoder.py and patches.py."""

from torch import nn


class ViT(nn.Module):
    """Patches, a class token, learned positions, encoder blocks, a head.

    Any layer of torch's may be used, but no ready ViT (torchvision, timm).
    """

    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        """depth: number of encoder blocks; the width inside them is yours to choose."""
        super().__init__()

    def forward(self, images):
        """(B, channels, image, image) → logits (B, classes)"""
        raise NotImplementedError
