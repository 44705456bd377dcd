import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        count = (image // patch) ** 2
        self.embed = nn.Conv2d(channels, dim, patch, stride=patch)
        self.vectors = nn.Parameter(torch.randn(count + 2, dim))  # the class token, then all positions
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        token, places = self.vectors[:1], self.vectors[1:]
        patches = self.embed(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([token.expand(len(x), -1, -1), patches], dim=1) + places
        tokens = self.encoder(tokens)
        return self.head(tokens[:, 0])
