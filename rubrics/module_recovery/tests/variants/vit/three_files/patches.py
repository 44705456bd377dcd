import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        assert image % patch == 0
        self.patch = patch
        self.side = image // patch
        self.proj = nn.Linear(channels * patch * patch, dim)

    def forward(self, x):
        B, C, H, W = x.shape
        x = x.reshape(B, C, self.side, self.patch, self.side, self.patch)
        x = x.permute(0, 2, 4, 1, 3, 5)
        x = x.reshape(B, self.side * self.side, C * self.patch * self.patch)
        return self.proj(x)
