import torch
from torch import nn


class ViT(nn.Module):
    """A position is the sum of a vector for its row and one for its column."""

    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.embed = nn.Conv2d(channels, dim, patch, stride=patch)
        self.token = nn.Parameter(torch.randn(1, 1, dim))
        self.rows = nn.Parameter(torch.randn(image // patch, 1, dim))
        self.columns = nn.Parameter(torch.randn(image // patch, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        patches = self.embed(x).flatten(2).mT + (self.rows + self.columns).flatten(0, 1)
        tokens = torch.cat([self.token.expand(len(x), -1, -1), patches], dim=1)
        return self.head(self.encoder(tokens)[:, 0])
