"""Vision Transformer: patches as tokens, a class token, learned positions, an encoder, a linear head.

Equation    tokens = [class; E·patch₁ + b; … ; E·patch_N + b] + P;  logits = W·LN(encoder(tokens))₀ + c
Convention  images are (B, C, S, S); patches of P×P are taken row by row, N = (S/P)²; within a patch the order
            is channel, row, column, so E is a convolution's weight with its last three axes laid out flat.
Readings    * A linear map of patches *is* a convolution with kernel = stride = patch; see `as_convolution`.
            * The encoder is pre-norm with GELU, hidden width 4·dim, and ends in a LayerNorm, as in the ViT
              paper; a post-norm encoder as in the original Transformer is a fair reading of "encoder".
            * The head is one linear layer, as in finetuning; the paper's pretraining head has a hidden layer.
            * Positions are learned and one-dimensional, one for the class token and one per patch.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from reference.shapes import require, require_images
from reference.transformer import Encoder, LearnedPositions


class PatchEmbedding(nn.Module):
    """(B, C, S, S) → (B, N, dim): each patch flattened and mapped linearly."""

    def __init__(self, image: int, patch: int, channels: int, dim: int) -> None:
        super().__init__()
        tiles = 1 <= patch <= image and image % patch == 0
        require(tiles, f"patches of {patch}×{patch} do not tile an image of {image}×{image}")
        self.image, self.patch, self.channels = image, patch, channels
        self.projection = nn.Linear(channels * patch * patch, dim)

    @property
    def count(self) -> int:
        return (self.image // self.patch) ** 2

    def forward(self, images: Tensor) -> Tensor:
        require_images(images, self.channels, self.image)
        batch, side, p = len(images), self.image // self.patch, self.patch
        grid = images.reshape(batch, self.channels, side, p, side, p)  # (B, C, rows, P, columns, P)
        patches = grid.permute(0, 2, 4, 1, 3, 5).reshape(batch, side * side, -1)  # (B, N, C·P·P)
        tokens: Tensor = self.projection(patches)  # (B, N, dim)
        return tokens

    def as_convolution(self) -> nn.Conv2d:
        """The same map as a convolution with kernel = stride = patch."""
        weight, bias = self.projection.weight, self.projection.bias
        convolution = nn.Conv2d(self.channels, len(bias), self.patch, stride=self.patch, dtype=weight.dtype)
        with torch.no_grad():
            convolution.weight.copy_(weight.reshape(convolution.weight.shape))  # (dim, C, P, P)
            convolution.bias.copy_(bias)  # (dim,)
        return convolution


class ViT(nn.Module):
    """Images (B, channels, image, image) → logits (B, classes)."""

    def __init__(self, image: int, patch: int, channels: int, dim: int, depth: int, heads: int, classes: int) -> None:
        super().__init__()
        self.patches = PatchEmbedding(image, patch, channels, dim)
        self.class_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)  # (1, 1, dim)
        self.positions = LearnedPositions(1 + self.patches.count, dim)
        self.encoder = Encoder(dim, heads, 4 * dim, depth, norm="pre", activation="gelu")
        self.head = nn.Linear(dim, classes)

    def forward(self, images: Tensor) -> Tensor:
        patches = self.patches(images)  # (B, N, dim)
        class_token = self.class_token.expand(len(patches), -1, -1)  # (B, 1, dim)
        tokens = self.positions(torch.cat([class_token, patches], dim=1))  # (B, 1 + N, dim)
        encoded = self.encoder(tokens)  # (B, 1 + N, dim)
        logits: Tensor = self.head(encoded[:, 0])  # (B, classes)
        return logits
