"""Fixed sinusoids where positions should be learned."""
import torch
from torch import nn

from encoder import EncoderBlock
from patches import PatchEmbedding


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        n = (image // patch) ** 2 + 1
        self.embed = PatchEmbedding(image, patch, channels, dim)
        self.cls = nn.Parameter(torch.randn(1, 1, dim))
        angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("pos", torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1))
        self.blocks = nn.Sequential(*(EncoderBlock(dim, heads, 4 * dim) for _ in range(depth)))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.embed(x).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
        return self.head(self.blocks(x)[:, 0])
