import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        side = image // patch
        self.embed = nn.Conv2d(channels, dim, patch, stride=patch)
        self.table = nn.Parameter(torch.randn(side**2 + 1, dim))  # the first row is the class token, position and all
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2) + self.table[1:]
        x = torch.cat([self.table[:1].expand(len(x), -1, -1), x], dim=1)
        return self.head(self.encoder(x)[:, 0])
