"""ViT; the class token stands last and gets its position like every other token."""
import torch
import torch.nn as nn

from encoder import EncoderBlock
from patches import PatchEmbedding


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        count = (image // patch) * (image // patch)
        self.to_tokens = PatchEmbedding(image, patch, channels, dim)
        self.cls = nn.Embedding(1, dim)
        self.where = nn.Embedding(count + 1, dim)
        self.encoder = nn.Sequential(*[EncoderBlock(dim, heads, 2 * dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.classify = nn.Linear(dim, classes)

    def forward(self, img):
        patches = self.to_tokens(img)
        cls = self.cls.weight[None].repeat(patches.shape[0], 1, 1)
        tokens = torch.cat((patches, cls), dim=1) + self.where.weight
        return self.classify(self.norm(self.encoder(tokens)[:, -1]))
