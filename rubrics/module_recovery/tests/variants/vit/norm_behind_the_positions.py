# One more LayerNorm before the encoder, as some have it: no reading is tried, a person looks.
import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.conv = nn.Conv2d(channels, dim, patch, patch, bias=False)
        self.cls = nn.Parameter(torch.randn(dim))
        self.pos = nn.Parameter(torch.randn((image // patch) ** 2 + 1, dim))
        self.ln_pre = nn.LayerNorm(dim)
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        t = self.conv(x).flatten(2).mT
        t = torch.cat([self.cls.expand(len(t), 1, -1), t], dim=1) + self.pos
        return self.out(self.body(self.ln_pre(t))[:, 0])
