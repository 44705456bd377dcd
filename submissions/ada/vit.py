import torch
from torch import nn

from encoder import EncoderBlock
from patches import PatchEmbedding


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        tokens = (image // patch) ** 2 + 1
        self.embed = PatchEmbedding(image, patch, channels, dim)
        self.class_token = nn.Parameter(0.02 * torch.randn(1, 1, dim))
        self.positions = nn.Parameter(0.02 * torch.randn(1, tokens, dim))
        self.blocks = nn.ModuleList(EncoderBlock(dim, heads, 4 * dim) for _ in range(depth))
        self.head = nn.Linear(dim, classes)

    def forward(self, images):
        x = self.embed(images)
        x = torch.cat([self.class_token.expand(len(x), -1, -1), x], dim=1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, 0])
