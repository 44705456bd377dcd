import torch
from torch import nn

from encoder import EncoderBlock
from patches import PatchEmbedding


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.embed = PatchEmbedding(image, patch, channels, dim)
        n = (image // patch) ** 2
        self.class_token = nn.Parameter(torch.randn(1, 1, dim))
        self.position = nn.Embedding(n + 1, dim)
        self.encoder = nn.Sequential(*[EncoderBlock(dim, heads, 2 * dim) for _ in range(depth)])
        self.mlp_head = nn.Sequential(nn.Linear(dim, 2 * dim), nn.Tanh(), nn.Linear(2 * dim, classes))

    def forward(self, images):
        tokens = self.embed(images)
        cls = self.class_token.repeat(tokens.size(0), 1, 1)
        tokens = torch.cat((tokens, cls), 1) + self.position(torch.arange(tokens.size(1) + 1))
        return self.mlp_head(self.encoder(tokens)[:, -1, :])
