"""The patches are collected column by column."""
import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.image, self.patch = image, patch
        self.linear = nn.Linear(channels * patch * patch, dim)

    def forward(self, x):
        tokens = []
        for column in range(0, self.image, self.patch):
            for row in range(0, self.image, self.patch):
                tile = x[:, :, row : row + self.patch, column : column + self.patch]
                tokens.append(self.linear(tile.flatten(1)))
        return torch.stack(tokens, dim=1)
