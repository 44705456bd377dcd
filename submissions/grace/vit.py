"""The class token is drawn anew at each call."""
import torch
from torch import nn

from encoder import EncoderBlock
from patches import PatchEmbedding


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.patches = PatchEmbedding(image, patch, channels, dim)
        self.positions = nn.Parameter(torch.randn((image // patch) ** 2 + 1, dim))
        self.layers = nn.ModuleList([EncoderBlock(dim, heads, 4 * dim) for _ in range(depth)])
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patches(x)
        token = torch.randn(x.shape[0], 1, x.shape[2], dtype=x.dtype)
        x = torch.cat([token, x], dim=1) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, 0])
