"""The patch embedding is a convolution whose kernel and stride are the patch."""
import torch
import torch.nn as nn


class Tokens(torch.Tensor):
    """A tensor that knows what its axes are called."""

    axes = ("batch", "token", "feature")


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.conv = nn.Conv2d(channels, dim, kernel_size=patch, stride=patch)

    def forward(self, img):
        grid = self.conv(img)
        return grid.flatten(start_dim=2).movedim(1, 2).as_subclass(Tokens)
