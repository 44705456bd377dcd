# LayerNorms round the patch projection, as a well-known implementation has them: no reading is tried, a person looks.
import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.p = patch
        width = channels * patch * patch
        self.embed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, dim), nn.LayerNorm(dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, batch_first=True, norm_first=True, activation="gelu")
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        b, c, h, w = x.shape
        p = self.p
        t = x.reshape(b, c, h // p, p, w // p, p).permute(0, 2, 4, 3, 5, 1).flatten(1, 2).flatten(2)
        t = torch.cat([self.cls_token.expand(b, -1, -1), self.embed(t)], dim=1) + self.pos
        return self.out(self.body(t)[:, 0])
