import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        side = image // patch
        self.embed = nn.Conv2d(channels, dim, patch, stride=patch)
        self.token = nn.Parameter(torch.randn(1, 1, dim))
        self.places = nn.Parameter(torch.randn(1, dim, side, side))
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = (self.embed(x) + self.places).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1)
        return self.head(self.encoder(x)[:, 0])
