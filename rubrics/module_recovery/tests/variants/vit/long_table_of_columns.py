import torch
from torch import nn


class ViT(nn.Module):
    """Tokens are columns until the encoder; the class token comes last."""

    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.embed = nn.Conv2d(channels, dim, patch, stride=patch)
        self.last = nn.Parameter(torch.randn(1, dim, 1))
        self.places = nn.Parameter(torch.zeros(1, dim, 300))
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))

    def forward(self, x):
        columns = torch.cat([self.embed(x).flatten(2), self.last.expand(len(x), -1, -1)], dim=2)
        columns = columns + self.places[:, :, : columns.size(2)]
        return self.head(self.encoder(columns.transpose(1, 2))[:, -1])
